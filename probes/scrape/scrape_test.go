package scrape

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

// inProcess answers requests without a socket.
type inProcess http.HandlerFunc

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, r)
	return w.Result(), nil
}

func serve(kind, page string) http.RoundTripper {
	return inProcess(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, page)
	})
}

func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value := "1"
		p := New("http://ops:geheim@gpu-7:8000/metrics?k=geheim", Options{Access: token(t, "t0ken"), Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
			<-time.After(30 * time.Millisecond)
			if r.URL.Path != "/metrics" || r.Header.Get("Authorization") != "Bearer t0ken" || !strings.HasPrefix(r.Header.Get("Accept"), "text/plain;version=0.0.4") {
				t.Errorf("asked for %s with %v", r.URL, r.Header)
			}
			io.WriteString(w, "# TYPE a counter\na "+value+"\nbad\n")
		})})
		defer p.Close()
		var sample probes.Sample
		for range 2 {
			section, err := p.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			section.AddTo(&sample)
			value = "2"
		}
		a, b := sample.Scrapes[0], sample.Scrapes[1]
		if a.Schema != b.Schema || a.Values[0] != 1 || b.Values[0] != 2 || a.Dropped != 1 {
			t.Errorf("got %+v, %+v", a, b)
		}
		if a.Endpoint != "http://gpu-7:8000" || p.Name() != "scrape http://gpu-7:8000" || a.Seconds != 0.03 || a.At.Location() != time.UTC {
			t.Errorf("got %+v", a)
		}
	})
}

func TestReadErrors(t *testing.T) {
	const url = "http://gpu-7:8000/metrics: "
	cases := []struct {
		name      string
		transport http.RoundTripper
		want      string
	}{
		{"HTML", serve("text/html", "<html>welcome</html>"), url + "found HTML, not Prometheus metrics"},
		{"HTML as text", serve("text/plain", "<!doctype html>\n<p>a 1</p>"), url + "found HTML, not Prometheus metrics"},
		{"JSON", serve("application/json", `[]`), url + "found JSON, not Prometheus metrics"},
		{"JSON over lines", serve("application/json", "{\n \"kvCacheStats\": 5\n}"), url + "found JSON, not Prometheus metrics"},
		{"prose", serve("text/plain", "It works!"), url + `found text ("It works!"), not Prometheus metrics`},
		{"binary", serve("", "\x00\x01\x02"), url + "found binary data, not Prometheus metrics"},
		{"empty", serve("text/plain", "\n"), url + "found an empty page: the engine exposes no metrics"},
		{"comments alone", serve("text/plain", "# TYPE a gauge\n"), url + "found a metrics page without any series yet"},
		{"404", inProcess(http.NotFound), url + "not exposed: the server answered 404 Not Found (404 page not found); SGLang needs --enable-metrics, llama.cpp --metrics"},
		{"200 MB", inProcess(func(w http.ResponseWriter, r *http.Request) {
			for range 40 {
				io.WriteString(w, strings.Repeat("a 1\n", 1000))
			}
		}), "http://gpu-7:8000/metrics is larger than 100000 bytes: not read"},
	}
	for _, c := range cases {
		section, err := New("gpu-7:8000", Options{Transport: c.transport, MaxBytes: 100000}).Read(context.Background())
		if err == nil || err.Error() != c.want || section != nil {
			t.Errorf("%s:\n got %v, section %v\nwant %s", c.name, err, section, c.want)
		}
	}
}

func TestReadKeepsWhatFits(t *testing.T) {
	p := New("gpu-7:8000", Options{MaxSeries: 2, Transport: serve("text/plain", "a 1\nb 2\nc 3\nd 4\n")})
	section, err := p.Read(context.Background())
	if want := "http://gpu-7:8000/metrics: 2 series beyond the limit of 2 left out"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if s, ok := section.(*probes.Scrape); !ok || len(s.Values) != 2 {
		t.Errorf("got %+v", section)
	}
}

func TestBadAddress(t *testing.T) {
	p := New("ftp://gpu-7", Options{})
	if _, err := p.Read(context.Background()); err == nil || !strings.Contains(err.Error(), `scheme "ftp"`) {
		t.Errorf("got %v", err)
	}
	if err := p.Close(); err != nil || p.Name() != "scrape ftp://gpu-7" {
		t.Errorf("got %v, %q", err, p.Name())
	}
}

// A real server: the connection is kept from one scrape to the next.
func TestReadKeepsTheConnection(t *testing.T) {
	var from []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
		io.WriteString(w, "a 1\n")
	}))
	defer server.Close()
	p := New(server.URL, Options{})
	defer p.Close()
	for range 3 {
		if _, err := p.Read(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if from[0] != from[1] || from[1] != from[2] {
		t.Errorf("connections from %v, want one", from)
	}
}

// token is the access of who has it.
func token(t testing.TB, secret string) probes.Access {
	t.Helper()
	auth, err := probes.BearerAuth(secret)
	if err != nil {
		t.Fatal(err)
	}
	return probes.Access{Auth: auth}
}
