package faulty

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestPages(t *testing.T) {
	count := func(s string) func(string) int { return func(page string) int { return strings.Count(page, s) } }
	size := func(page string) int { return len(page) / 1000 }
	cases := []struct {
		name    string
		handler http.HandlerFunc
		what    func(string) int
		want    int
	}{
		{"series", Series(5000), count("many{i="), 5000},
		{"labels", Labels(3000), count("=\"v\""), 3000},
		{"big", Big(320_000), size, 320},
		{"drip", Drip([]byte("a 1\nb 2\n"), time.Microsecond), count("\n"), 2},
	}
	for _, c := range cases {
		w := httptest.NewRecorder()
		c.handler(w, httptest.NewRequest("GET", "/metrics", nil))
		if got := c.what(w.Body.String()); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestGzipBomb(t *testing.T) {
	w := httptest.NewRecorder()
	GzipBomb(10_000_000)(w, httptest.NewRequest("GET", "/metrics", nil))
	packed := w.Body.Len()
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if err != nil || n != 10_000_000 || packed > 100_000 || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes unpack to %d, %v", packed, n, err)
	}
}

// What never ends does end when the client is gone: Close waits for the handlers.
func TestEndsWithItsClient(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"hang": Hang, "endless": Endless, "drip": Drip([]byte(strings.Repeat("a 1\n", 1000)), time.Hour),
	} {
		server := httptest.NewServer(handler)
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name == "hang" {
			go cancel()
		}
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			bufio.NewReader(answer.Body).ReadByte()
			answer.Body.Close()
		}
		cancel()
		server.Close()
		if (err == nil) != (name != "hang") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
