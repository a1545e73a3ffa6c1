package inject

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// bufferingProxy is a reverse proxy between the load and the engine that passes an answer
// on in pieces of its buffer's size, as proxies do that are not told that it is a stream.
//
//	bytes  of its buffer; an answer that is shorter goes out when it is whole
type bufferingProxy struct {
	bytes int

	engine *url.URL
	client *http.Transport
	server *http.Server
	on     atomic.Bool
	held   atomic.Int64 // ns between the first byte of an answer and when it went out, all together
}

func newBufferingProxy(with Settings) (Injector, error) {
	bytes, err := with.Number("bytes", 0, 1, 64<<20)
	if bytes == 0 && err == nil {
		err = errors.New("no number of bytes is given")
	}
	return &bufferingProxy{bytes: int(bytes)}, err
}

func (p *bufferingProxy) Route(ctx context.Context, engine string) (string, error) {
	var err error
	if p.engine, err = url.Parse(engine); err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	p.client = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256}
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.pass), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go p.server.Serve(listener)
	return "http://" + listener.Addr().String(), nil
}

func (p *bufferingProxy) Start(context.Context, *Site) error {
	p.on.Store(true)
	return nil
}

// Stop breaks the connections that are left.
func (p *bufferingProxy) Stop() error {
	if p.server == nil {
		return nil
	}
	p.on.Store(false)
	err := p.server.Close()
	p.client.CloseIdleConnections()
	return err
}

// pass asks the engine and answers as it does.
func (p *bufferingProxy) pass(w http.ResponseWriter, r *http.Request) {
	ask := r.Clone(r.Context())
	ask.RequestURI, ask.URL.Scheme, ask.URL.Host = "", p.engine.Scheme, p.engine.Host
	res, err := p.client.RoundTrip(ask)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	if err := p.copy(w, res.Body); err != nil {
		panic(http.ErrAbortHandler) // the answer is not whole, and the client is to see that
	}
}

// copy passes a body on: as it comes, or in pieces of the buffer while it buffers.
func (p *bufferingProxy) copy(w http.ResponseWriter, body io.Reader) error {
	size, out := 1, &timedWriter{to: w}
	if p.on.Load() {
		size, out.held = p.bytes, &p.held
	}
	held := bufio.NewWriterSize(out, size)
	buf := make([]byte, piece)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if out.came.IsZero() {
				out.came = time.Now()
			}
			if _, err := held.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == nil {
			continue
		}
		if ferr := held.Flush(); ferr != nil || err != io.EOF {
			return errors.Join(ferr, err)
		}
		return nil
	}
}

// timedWriter sends at once what it is given, and counts how long the first of it was held.
type timedWriter struct {
	to   http.ResponseWriter
	came time.Time // when the first byte came
	sent bool
	held *atomic.Int64 // nil: it is not counted
}

func (t *timedWriter) Write(b []byte) (int, error) {
	if t.held != nil && !t.sent {
		t.sent = true
		t.held.Add(int64(time.Since(t.came)))
	}
	n, err := t.to.Write(b)
	if err == nil {
		err = http.NewResponseController(t.to).Flush()
	}
	return n, err
}

// Confirm asks that answers were held.
func (p *bufferingProxy) Confirm() error {
	if time.Duration(p.held.Load()) < leastHeld {
		return errors.New("the proxy held no answer back")
	}
	return nil
}
