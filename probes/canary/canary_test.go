package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/engine"
	"llmtop/probes"
)

// ask reads a probe once.
func ask(t *testing.T, p *Probe) (*probes.Canary, error) {
	t.Helper()
	section, err := p.Read(context.Background())
	if section == nil {
		t.Fatalf("no section: %v", err)
	}
	c := section.(*probes.Canary)
	if (c.Err == "") != c.TTFTSeconds.Seen() || c.Err == "" && err != nil {
		t.Errorf("the section does not fit its error %v: %+v", err, c)
	}
	return c, err
}

// serve answers over a real connection.
func serve(t *testing.T, h http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// tokens is the stream of n tokens that an OpenAI server sends, its parts one by one.
func tokens(n int) (events []string) {
	for i := range n {
		finish := "null"
		if i == n-1 {
			finish = `"length"`
		}
		events = append(events, fmt.Sprintf(`data: {"choices":[{"index":0,"text":" secret%d","finish_reason":%s}],"usage":null}`+"\n\n", i, finish))
	}
	return append(events, fmt.Sprintf(`data: {"choices":[],"usage":{"completion_tokens":%d}}`+"\n\n", n)+"data: [DONE]\n\n")
}

// TestOwnEngine asks our own engine and model.
func TestOwnEngine(t *testing.T) {
	e, err := engine.New(engine.Config{Threads: 1, APIKey: "geheim"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	defer func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}()
	handler, ids := e.Handler(), []string{}
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			ids = append(ids, r.Header.Get("X-Request-Id"))
		}
		handler.ServeHTTP(w, r)
	})
	p := New(u, Options{Access: secret(t)})
	defer p.Close()
	for n := 1; n <= 2; n++ {
		c, err := ask(t, p)
		if err != nil {
			t.Fatal(err)
		}
		if c.Status != 200 || c.Tokens.Or(0) != answerTokens || c.Sent.Or(0) != float64(n) || c.Failed.Or(-1) != 0 || c.Endpoint != u {
			t.Errorf("canary %d: %+v", n, c)
		}
		if ttft, e2e := c.TTFTSeconds.Or(0), c.E2ESeconds.Or(0); ttft <= 0 || e2e < ttft || c.DialSeconds.Or(0) <= 0 || c.Chunks.Or(0) < 1 {
			t.Errorf("canary %d: %+v", n, c)
		}
	}
	if p.model != "oncall" || p.api != 0 {
		t.Errorf("model %q, API %d", p.model, p.api)
	}
	var first, second uint32
	if n, _ := fmt.Sscanf(strings.Join(ids, " "), "llmtop-canary-%d llmtop-canary-%d", &first, &second); n != 2 || second != first+1 {
		t.Errorf("request ids %q", ids)
	}
}

// TestWrongKey: the section says so, and nothing holds the key.
func TestWrongKey(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"wrong: %s","code":"invalid_api_key"}}`, r.Header.Get("Authorization"))
	})
	c, err := ask(t, New(u, Options{Access: secret(t)}))
	if c.Status != 401 || c.Err != "the server wants credentials: it answered 401 Unauthorized (invalid_api_key)" || err == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if strings.Contains(c.Err+err.Error(), "geheim") {
		t.Errorf("the key is told: %v", err)
	}
}

// paced is a transport that lets a server wait until what it wrote was read.
type paced struct{ read chan struct{} }

func (p paced) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost {
		response.Body = &pacedBody{response.Body, p.read}
	}
	return response, err
}

type pacedBody struct {
	io.ReadCloser
	read chan struct{}
}

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.read <- struct{}{}
	}
	return n, err
}

// TestProxies: a proxy that passes each token on, and one that holds the answer back.
func TestProxies(t *testing.T) {
	for _, c := range []struct {
		name    string
		buffers bool
		chunks  float64
	}{{"streams", false, 8}, {"buffers", true, 1}} {
		read := make(chan struct{}, 100)
		backend, _ := url.Parse(serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/completions" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for _, event := range tokens(8) {
				io.WriteString(w, event)
				w.(http.Flusher).Flush()
				if !c.buffers {
					<-read
				}
			}
		}))
		proxy := httputil.NewSingleHostReverseProxy(backend)
		proxy.FlushInterval = -1
		if c.buffers {
			proxy.ModifyResponse = func(r *http.Response) error {
				all, err := io.ReadAll(r.Body)
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(string(all))), int64(len(all))
				r.Header.Set("Content-Length", fmt.Sprint(len(all)))
				r.Header.Set("Content-Type", "text/plain") // or ReverseProxy streams it nevertheless
				return err
			}
		}
		got, err := ask(t, New(serve(t, proxy.ServeHTTP), Options{Transport: paced{read}}))
		if err != nil || got.Chunks.Or(0) != c.chunks || got.Tokens.Or(0) != 8 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if got.ITLSeconds.Seen() == c.buffers || got.MaxITL.Seen() == c.buffers {
			t.Errorf("%s: time between tokens %v", c.name, got.ITLSeconds)
		}
		if b, _ := json.Marshal(got); strings.Contains(string(b), "secret") {
			t.Errorf("the answer's text is kept: %s", b)
		}
	}
}

// TestBadAnswers: what comes instead of a stream is told, and ends.
func TestBadAnswers(t *testing.T) {
	cases := []struct {
		name   string
		answer func(w http.ResponseWriter, out *http.ResponseController)
		status int
		err    string
	}{
		{"HTML", func(w http.ResponseWriter, _ *http.ResponseController) {
			io.WriteString(w, "<html>secret</html>")
		}, 200, "no stream of tokens: the answer is HTML"},
		{"JSON", func(w http.ResponseWriter, _ *http.ResponseController) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"choices":[{"message":{"content":"secret"}}]}`)
		}, 200, "no stream of tokens: the answer is JSON"},
		{"an empty stream", func(w http.ResponseWriter, _ *http.ResponseController) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: [DONE]\n\n")
		}, 200, "no stream of tokens: the answer is a stream without tokens"},
		{"tokens without end", func(w http.ResponseWriter, out *http.ResponseController) {
			for out.Flush() == nil {
				if _, err := io.WriteString(w, tokens(2)[0]); err != nil {
					return
				}
			}
		}, 200, "the answer goes on after 64 tokens, 8 were asked for: broken off"},
		{"comments without end", func(w http.ResponseWriter, _ *http.ResponseController) {
			for {
				if _, err := io.WriteString(w, ": secret\n\n"); err != nil {
					return
				}
			}
		}, 200, "the answer is larger than 1 MiB: broken off"},
		{"a line without end", func(w http.ResponseWriter, _ *http.ResponseController) {
			for {
				if _, err := io.WriteString(w, "data: secret"); err != nil {
					return
				}
			}
		}, 200, "a line of the answer is longer than 64 KiB: broken off"},
		{"an error in the stream", func(w http.ResponseWriter, _ *http.ResponseController) {
			io.WriteString(w, tokens(2)[0]+`data: {"error":{"message":"secret","type":"InternalServerError"}}`+"\n\n")
		}, 200, "the engine broke the answer off with an error (InternalServerError)"},
		{"TGI's error", func(w http.ResponseWriter, _ *http.ResponseController) {
			io.WriteString(w, `data:{"error":"secret","error_type":"generation"}`+"\n\n")
		}, 200, "the engine broke the answer off with an error (generation)"},
		{"the end comes too early", func(w http.ResponseWriter, _ *http.ResponseController) {
			io.WriteString(w, tokens(8)[0])
		}, 200, "the answer broke off before its end"},
		{"a reset", func(w http.ResponseWriter, out *http.ResponseController) {
			io.WriteString(w, tokens(8)[0])
			out.Flush()
			conn, _, err := out.Hijack()
			if err == nil {
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			}
		}, 200, "connection reset by peer"},
		{"the model fails", func(w http.ResponseWriter, _ *http.ResponseController) {
			http.Error(w, "secret", http.StatusInternalServerError)
		}, 500, "the server answered 500 Internal Server Error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			u := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/completions" {
					c.answer(w, http.NewResponseController(w))
				} else {
					http.NotFound(w, r)
				}
			})
			got, err := ask(t, New(u, Options{}))
			if err == nil || got.Status != c.status || !strings.HasSuffix(got.Err, c.err) {
				t.Errorf("got %d %q, %v", got.Status, got.Err, err)
			}
			if got.Failed.Or(0) != 1 || got.Tokens.Seen() || got.E2ESeconds.Seen() || !got.DialSeconds.Seen() {
				t.Errorf("%+v", got)
			}
			if b, _ := json.Marshal(got); strings.Contains(string(b)+err.Error(), "secret") {
				t.Errorf("words of the answer are kept: %s %v", b, err)
			}
		})
	}
}

// TestNobodyListens: no status, no time of dialling.
func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, err := ask(t, New(addr, Options{}))
	if err == nil || c.Status != 0 || !strings.HasPrefix(c.Err, "nothing listens there") || c.DialSeconds.Seen() {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestBadAddress(t *testing.T) {
	p := New("ftp://x", Options{})
	if section, err := p.Read(context.Background()); section != nil || err == nil {
		t.Errorf("%v, %v", section, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// inProcess answers without a connection; a body comes as the handler writes it.
type inProcess http.HandlerFunc

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h(w, r)
	}()
	select {
	case <-done:
		return w.Result(), nil
	case <-r.Context().Done():
		<-done
		return nil, r.Context().Err()
	}
}

// TestNeverAnswers: the wait is bounded, and the end of the collection ends it sooner.
func TestNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := inProcess(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				http.NotFound(w, r)
				return
			}
			<-r.Context().Done()
		})
		began := time.Now()
		c, err := ask(t, New("http://gpu-7:8000", Options{Transport: silent}))
		if d := time.Since(began); d != 30*time.Second || !errors.Is(err, context.DeadlineExceeded) || c.Err != "no answer within 30s: context deadline exceeded; no connection was made" {
			t.Errorf("after %s: %q, %v", d, c.Err, err)
		}
		began = time.Now()
		if _, err := ask(t, New("http://gpu-7:8000", Options{Transport: silent, Pace: time.Minute})); err == nil || time.Since(began) != time.Minute {
			t.Errorf("with a slow pace it took %s", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if section, err := New("http://gpu-7:8000", Options{Transport: silent}).Read(ctx); section != nil || err == nil {
			t.Errorf("at the end of the collection: %v, %v", section, err)
		}
	})
}

// secret are credentials that must not be seen anywhere.
func secret(t *testing.T) probes.Access {
	t.Helper()
	auth, err := probes.BearerAuth("geheim")
	if err != nil {
		t.Fatal(err)
	}
	return probes.Access{Auth: auth}
}
