package scrape

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// One server, asked every 100 ms for 10 s: how often is it bothered?
func TestPause(t *testing.T) {
	long := strings.Repeat("a 1\n", 1000)
	cases := []struct {
		name, page  string
		status      int
		takes       time.Duration
		least, most int
	}{
		{"a page that is sound", "a 1\n", 200, 20 * time.Millisecond, 100, 100},
		{"a page that is too large", long, 200, 100 * time.Millisecond, 9, 10},
		{"too large at once", long, 200, time.Millisecond, 100, 100},
		{"refused at once", "", 503, time.Millisecond, 100, 100},
		{"refused after a while", "", 503, 50 * time.Millisecond, 16, 18},
		{"refused after very long", "", 503, time.Second, 2, 2},
		{"too many series", "a 1\nb 2\nc 3\n", 200, 50 * time.Millisecond, 16, 18},
		{"never answers", "", 200, time.Hour, 5, 5},
	}
	for _, c := range cases {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			p := New("gpu-7:8000", Options{MaxBytes: 1000, MaxSeries: 2, Transport: transport(func(r *http.Request) (*http.Response, error) {
				asked++
				select {
				case <-time.After(c.takes):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				w := httptest.NewRecorder()
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.page)
				return w.Result(), nil
			})})
			began := time.Now()
			for n := 0; time.Since(began) < 10*time.Second; n++ {
				due := began.Add(time.Duration(n) * 100 * time.Millisecond)
				if time.Sleep(time.Until(due)); time.Since(began) >= 10*time.Second {
					break
				}
				section, err := p.Read(context.Background())
				if sound := c.name == "a page that is sound"; sound != (err == nil) || sound && section == nil {
					t.Fatalf("%s: got %v, %v", c.name, section, err)
				}
			}
			if asked < c.least || asked > c.most {
				t.Errorf("%s: asked %d times, want %d to %d", c.name, asked, c.least, c.most)
			}
		})
	}
}
