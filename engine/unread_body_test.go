package engine

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// deadlineWriter notes the deadline for reading that a handler sets.
type deadlineWriter struct {
	http.ResponseWriter
	deadline time.Time
}

func (w *deadlineWriter) SetReadDeadline(at time.Time) error {
	w.deadline = at
	return nil
}

// A body that nobody asked for is waited for, by net/http, before the answer goes
// out: so that a client cannot hold a connection by announcing one, its time is bounded.
func TestUnreadBodiesAreBounded(t *testing.T) {
	e := startFake(t, nil)
	defer e.stop()
	for _, c := range []struct {
		method, path, body string
		bounded            bool
	}{
		{"GET", "/health", "x", true}, {"GET", "/metrics", "x", true}, {"GET", "/nowhere", "x", true},
		{"PUT", "/v1/completions", "x", true}, {"GET", "/health", "", false},
		{"POST", "/v1/completions", completion(3, 1, ""), false}, // read, so that it does not look like a client that has gone
	} {
		w := &deadlineWriter{ResponseWriter: httptest.NewRecorder()}
		e.handler.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if got := !w.deadline.IsZero(); got != c.bounded {
			t.Errorf("%s %s with a body of %d bytes: bounded %t, want %t", c.method, c.path, len(c.body), got, c.bounded)
		}
	}
}
