package engine

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a network in memory, so that net/http's own handling of connections
// is tested in virtual time.
type pipes struct {
	conns chan net.Conn
	over  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.over); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// serve starts an HTTP server; the caller stops it.
func serve(e *testEngine) (network *pipes, stop func()) {
	p := &pipes{conns: make(chan net.Conn), over: make(chan struct{})}
	s := &http.Server{Handler: e.handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Serve(p)
	}()
	return p, func() {
		s.Close()
		<-ended
	}
}

func (p *pipes) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil },
	}}
}

// The bound on reading the body is no bound on the answer, however long it takes.
func TestLongAnswerOverNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
		defer e.stop()
		defer g.release()
		network, stop := serve(e)
		defer stop()
		answer := make(chan string)
		go func() {
			r, err := network.client().Post("http://engine/v1/completions", "", strings.NewReader(completion(3, 5, `,"stream":true`)))
			if err != nil {
				answer <- err.Error()
				return
			}
			defer r.Body.Close()
			b, err := io.ReadAll(r.Body)
			if err != nil {
				b = append(b, err.Error()...)
			}
			answer <- string(b)
		}()
		for range 5 {
			<-g.arrived
			<-time.After(3 * bodyTimeout)
			g.pass <- struct{}{}
		}
		if got := <-answer; strings.Count(got, "data: ") != 6 || !strings.HasSuffix(got, "data: [DONE]\n\n") {
			t.Errorf("answer %q", got)
		}
	})
}

// A connection that breaks is noticed while the handler waits for tokens.
func TestConnectionBreaks(t *testing.T) {
	for _, more := range []string{"", `,"stream":true`} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
			defer e.stop()
			defer g.release()
			network, stop := serve(e)
			defer stop()
			conn := network.dial()
			body := completion(3, 50, more)
			go io.Copy(io.Discard, conn)
			io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: engine\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
			for range 3 {
				<-g.arrived
				g.pass <- struct{}{}
			}
			<-g.arrived
			conn.Close()
			synctest.Wait()
			g.pass <- struct{}{}
			synctest.Wait()
			if e.runner.steps != 4 {
				t.Errorf("%d steps, want none after the one that was running", e.runner.steps)
			}
			e.freed(t)
			aborted(t, e)
		})
	}
}

// A client that closes only its sending side has given up, but reads on: it must
// not take what it gets for a whole answer.
func TestHalfClosed(t *testing.T) {
	for _, more := range []string{"", `,"stream":true`} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
			defer e.stop()
			defer g.release()
			network, stop := serve(e)
			defer stop()
			client, server := net.Pipe()
			sends, out := io.Pipe()
			network.conns <- halfClosing{server, sends}
			body := completion(3, 50, more)
			go io.WriteString(out, "POST /v1/completions HTTP/1.1\r\nHost: engine\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
			answer := make(chan string)
			go func() {
				b, _ := io.ReadAll(client)
				answer <- string(b)
			}()
			for range 3 {
				<-g.arrived
				g.pass <- struct{}{}
			}
			<-g.arrived
			out.Close()
			if got := <-answer; more == "" && got != "" || strings.HasSuffix(got, "\r\n0\r\n\r\n") {
				t.Errorf("answer %q", got)
			}
			g.pass <- struct{}{}
			synctest.Wait()
			e.freed(t)
			aborted(t, e)
			if more != "" {
				return
			}
			if n := counterValue(t, e, `http_requests_total{status="4xx"}`); n != 1 {
				t.Errorf("%g answers with status 4xx, want the one", n)
			}
		})
	}
}

// halfClosing is a connection whose client can close its sending side alone.
type halfClosing struct {
	net.Conn
	sends io.Reader
}

func (h halfClosing) Read(b []byte) (int, error) { return h.sends.Read(b) }

// A client that stops in the middle of its request is not waited for without end.
func TestStalledBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		network, stop := serve(e)
		defer stop()
		conn := network.dial()
		defer conn.Close()
		io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: engine\r\nContent-Length: 500\r\n\r\n{")
		begun := time.Now()
		answer, _ := io.ReadAll(conn)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") || !strings.Contains(string(answer), codeIncomplete) {
			t.Errorf("answer %q", answer)
		}
		if waited := time.Since(begun); waited < bodyTimeout || waited > bodyTimeout+time.Second { // virtual time
			t.Errorf("waited %s", waited)
		}
	})
}

// The profiles are there, and the index names them.
func TestPprof(t *testing.T) {
	e := startFake(t, nil)
	defer e.stop()
	if w := e.get("/debug/pprof/"); w.Code != 200 || !strings.Contains(w.Body.String(), "goroutine") {
		t.Errorf("index: %d", w.Code)
	}
	if w := e.get("/debug/pprof/goroutine?debug=1"); w.Code != 200 || !strings.HasPrefix(w.Body.String(), "goroutine profile: total ") {
		t.Errorf("goroutines: %d %.300s", w.Code, w.Body)
	}
}

// A client that never reads its stream holds up nobody: its sequence is computed to
// the end and freed, others are served, and after a while its connection is broken.
func TestClientNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs = 1 })
		defer e.stop()
		network, stop := serve(e)
		defer stop()
		conn := network.dial() // a pipe without a buffer
		defer conn.Close()
		body := completion(3, 150, `,"stream":true`)
		io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: engine\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
		synctest.Wait()
		e.freed(t)
		if n := e.InFlight(); n != 1 {
			t.Errorf("%d in flight, want the one that is not read", n)
		}
		for range 3 {
			if w := e.post(t.Context(), "/v1/completions", completion(4, 5, "")); w.Code != 200 {
				t.Errorf("another request: %d", w.Code)
			}
		}
		<-time.After(writeTimeout + time.Second)
		synctest.Wait()
		if n := e.InFlight(); n != 0 {
			t.Errorf("%d in flight after %s", n, writeTimeout)
		}
		if got := e.requests(t, "").Finished; len(got) != 4 || got[3].Finish != FinishAbort {
			t.Errorf("finished %+v", got)
		}
	})
}
