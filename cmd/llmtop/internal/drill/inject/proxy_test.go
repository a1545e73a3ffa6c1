package inject

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bucket{rate: 1000}
		begun := time.Now()
		for range 11 {
			b.take(t.Context(), 100)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("1000 bytes before the last 100 took %s at 1000 bytes/s", took)
		}
		if b.heldSoFar() != time.Second {
			t.Errorf("it says that it held them for %s", b.heldSoFar())
		}
		free := bucket{}
		free.take(t.Context(), 1<<30)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("a bucket without a rate held bytes for %s", took-time.Second)
		}
	})
}

// TestRelays pass everything on unchanged, with a fault or without.
func TestRelays(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // one who asks and breaks off gets what came
		w.Write(b)
	}))
	defer engine.Close()
	for _, c := range []struct {
		inject string
		with   map[string]string
		body   int
	}{
		{"network", map[string]string{"bytes": "200000", "delay": "1ms"}, 10000},
		{"slow-readers", map[string]string{"bytes": "200000"}, 10000},
		{"slow-readers", map[string]string{"bytes": "200000", "share": "0.5"}, 10000},
		{"proxy-buffer", map[string]string{"bytes": "5000"}, 12000},
	} {
		i, err := New(c.inject, c.with)
		if err != nil {
			t.Fatal(err)
		}
		url, err := i.(Router).Route(t.Context(), engine.URL)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Repeat("0123456789", c.body/10)
		for _, during := range []bool{false, true} {
			if during {
				if err := i.Start(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: !during}}
			for range 2 {
				if got := ask(t, &client, url, body); got != body {
					t.Errorf("%s, during %v: %d bytes came back of %d", c.inject, during, len(got), len(body))
				}
			}
			client.CloseIdleConnections()
			if err := i.Confirm(); err == nil {
				t.Errorf("%s: confirmed, though little was held", c.inject)
			}
		}
		for range 2 {
			if err := i.Stop(); err != nil {
				t.Errorf("%s: %v", c.inject, err)
			}
		}
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
			t.Errorf("%s still answers", c.inject)
		}
	}
}

func ask(t *testing.T, c *http.Client, url, body string) string {
	t.Helper()
	res, err := c.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRelayStops while it holds bytes for a long time.
func TestRelayStops(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 10*piece))
	}))
	defer engine.Close()
	made, err := New("slow-readers", map[string]string{"bytes": "16"})
	if err != nil {
		t.Fatal(err)
	}
	r := made.(*slowReaders)
	url, err := r.Route(t.Context(), engine.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		failed <- err
	}()
	for r.held.Load() == 0 {
		<-time.After(time.Millisecond)
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("an answer that was broken off came")
	}
	if err := r.Confirm(); err != nil {
		t.Error(err)
	}
}

// TestBuffering holds the beginning of an answer until there is more, or its end.
func TestBuffering(t *testing.T) {
	more := make(chan struct{})
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first ")
		http.NewResponseController(w).Flush()
		<-more
		io.WriteString(w, "second")
	}))
	defer engine.Close()
	made, err := New("proxy-buffer", map[string]string{"bytes": "1000"})
	if err != nil {
		t.Fatal(err)
	}
	p := made.(*bufferingProxy)
	url, err := p.Route(t.Context(), engine.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	for _, buffers := range []bool{false, true} {
		p.on.Store(buffers)
		first := make(chan string)
		go func() {
			defer close(first)
			res, err := http.Get(url)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			buf := make([]byte, 100)
			n, _ := res.Body.Read(buf)
			first <- string(buf[:n])
		}()
		want := "first second"
		if !buffers {
			want = "first "
			if got := <-first; got != want {
				t.Errorf("buffers %v: %q came first, want %q", buffers, got, want)
			}
			more <- struct{}{}
			continue
		}
		select {
		case got := <-first:
			t.Errorf("%q came before the end of the answer", got)
		case more <- struct{}{}: // the handler waits: it has sent the beginning
		}
		if got := <-first; got != want {
			t.Errorf("buffers %v: %q came first, want %q", buffers, got, want)
		}
	}
	if p.held.Load() == 0 {
		t.Error("no answer was held")
	}
}
