package probes

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// handler answers requests in process, without a socket.
type handler http.HandlerFunc

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() { defer close(done); h(w, r) }()
	select {
	case <-done:
		return w.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// failing is a transport that never gets through.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func fetcher(t *testing.T, o FetchOptions) *Fetcher {
	t.Helper()
	e, err := ParseEndpoint("http://ops:geheim@gpu-7:8000/?k=geheim")
	if err != nil {
		t.Fatal(err)
	}
	return NewFetcher(e, "/metrics", o)
}

func TestFetch(t *testing.T) {
	f := fetcher(t, FetchOptions{Accept: "text/plain", Transport: handler(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, strings.Join([]string{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Accept"), r.UserAgent(), user, password}, " "))
	})})
	page, err := f.Get(context.Background(), url.Values{"after": {"7"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(page.Body), "GET /metrics after=7 text/plain llmtop ops geheim"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if page.URL != "http://gpu-7:8000/metrics" || page.ContentType != "text/plain" {
		t.Errorf("got %q, %q", page.URL, page.ContentType)
	}
}

func TestFetchBearer(t *testing.T) {
	f := fetcher(t, FetchOptions{Access: token(t, "t0ken"), Transport: handler(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Authorization"))
	})})
	if page, err := f.Get(context.Background(), nil); err != nil || string(page.Body) != "Bearer t0ken" {
		t.Errorf("got %v, %v", page, err)
	}
}

func TestFetchErrors(t *testing.T) {
	status := func(code int, kind, body string) http.RoundTripper {
		return handler(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			io.WriteString(w, body)
		})
	}
	cases := []struct {
		name      string
		transport http.RoundTripper
		want      string
		is        error
	}{
		{"404", status(404, "application/json", `{"detail":"Not Found"}`), `http://gpu-7:8000/metrics: not exposed: the server answered 404 Not Found ({"detail":"Not Found"})`, ErrNotExposed},
		{"501", status(501, "text/plain", ""), "http://gpu-7:8000/metrics: not exposed: the server answered 501 Not Implemented", ErrNotExposed},
		{"401", status(401, "text/plain", "who\nare\x1b[31m you?"), "http://gpu-7:8000/metrics: the server refuses the credentials: it answered 401 Unauthorized (who are[31m you?); give others with --auth", nil},
		{"503", status(503, "text/html", "<h1>down</h1>"), "http://gpu-7:8000/metrics: the server answered 503 Service Unavailable", nil},
		{"odd status", status(799, "text/plain", ""), "http://gpu-7:8000/metrics: the server answered 799", nil},
		{"refused", failing{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}, "http://gpu-7:8000/metrics: nothing listens there (connection refused)", syscall.ECONNREFUSED},
		{"no such host", failing{&net.DNSError{Name: "gpu-7", IsNotFound: true}}, `http://gpu-7:8000/metrics: host "gpu-7" is not known`, nil},
		{"anything else", failing{errors.New("odd\nthing")}, "http://gpu-7:8000/metrics: odd thing", nil},
		{"too large", status(200, "text/plain", strings.Repeat("a 1\n", 300)), "http://gpu-7:8000/metrics is larger than 1000 bytes: not read", nil},
		{"packed", handler(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Encoding", "br") }), "http://gpu-7:8000/metrics came br-encoded without being asked to", nil},
		{"for ever elsewhere", handler(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }), "http://gpu-7:8000/metrics: more than 3 redirects", nil},
	}
	for _, c := range cases {
		_, err := fetcher(t, FetchOptions{Transport: c.transport, MaxBytes: 1000}).Get(context.Background(), nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v is not %v", c.name, err, c.is)
		}
	}
}

func TestFetchTellsOfAHugePageWithoutReadingIt(t *testing.T) {
	read := 0
	f := fetcher(t, FetchOptions{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(readerFunc(func(p []byte) (int, error) { read += len(p); return len(p), nil }))
		return &http.Response{StatusCode: 200, ContentLength: 200 << 20, Body: body, Header: http.Header{}}, nil
	})})
	_, err := f.Get(context.Background(), nil)
	if want := "http://gpu-7:8000/metrics is 200 MiB, the limit is 16 MiB: not read"; err == nil || err.Error() != want || read > 0 {
		t.Errorf("got %v after %d bytes, want %s", err, read, want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestFetchGivesUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fetcher(t, FetchOptions{Transport: handler(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })})
		began := time.Now()
		_, err := f.Get(context.Background(), nil)
		if want := "http://gpu-7:8000/metrics: no answer within 2s: context deadline exceeded"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := f.Get(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was cancelled", err)
		}
		synctest.Wait()
	})
}

func TestDescribe(t *testing.T) {
	cases := []struct{ kind, body, want string }{
		{"", " \n", "an empty page"},
		{"text/html", "hello", "HTML"},
		{"", "\ufeff <!doctype html>", "HTML"},
		{"application/json", "[]", "JSON"},
		{"", `{"a":1}`, "JSON"},
		{"", `"# HELP x"`, "JSON"},
		{"", "\x1f\x8b\x08", "binary data"},
		{"", "ab\x00c", "binary data"},
		{"text/plain", "it works!\x1b[2J", `text ("it works![2J")`},
	}
	for _, c := range cases {
		if got := Describe(c.kind, []byte(c.body)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.body, got, c.want)
		}
	}
}

// token is the access of who has it.
func token(t testing.TB, secret string) Access {
	t.Helper()
	auth, err := BearerAuth(secret)
	if err != nil {
		t.Fatal(err)
	}
	return Access{Auth: auth}
}
