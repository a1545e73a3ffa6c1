package inject

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// site is one with a fake engine and an everyday load.
func site(t *testing.T) *Site {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{Exe: exe, Dir: t.TempDir(), Seed: 1, Threads: 1, Capacity: 200, Everyday: Stream{Share: 0.5}, Log: t.Logf}
	if err := s.serve(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Engine.Stop() })
	if s.Clients, err = s.Load(t.Context(), s.Everyday); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Clients.Stop() })
	return s
}

func TestLoadInjector(t *testing.T) {
	s := site(t)
	l, err := New("load", map[string]string{"rate": "1", "streams": "3", "over": "300ms", "replaces": "yes", "flags": "--prompt-tokens 40"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Confirm(); err == nil {
		t.Error("confirmed before it began")
	}
	waitForRequests(t, s, 1, 20)
	if err := l.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Clients.Done():
	default:
		t.Error("the everyday load goes on, though it was to be replaced")
	}
	waitForRequests(t, s, 4, 20)
	for range 2 {
		if err := l.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Confirm(); err != nil {
		t.Error(err)
	}
	if left := children(t); len(left) != 1 {
		t.Errorf("%d processes are left, want the engine alone", len(left))
	}
}

// waitForRequests returns when so many loads have measured so many requests each.
func waitForRequests(t *testing.T, s *Site, loads, each int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(20 * time.Millisecond) {
		n := 0
		for i := range loads {
			b, _ := os.ReadFile(s.Dir + "/requests-" + string(rune('0'+i)) + ".jsonl") // it may not be there yet
			if strings.Count(string(b), "\n") >= each {
				n++
			}
		}
		if n == loads {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d loads have measured anything after 20 s", n, loads)
		}
	}
}

func TestLoadThatEnds(t *testing.T) {
	s := site(t)
	l, err := New("load", map[string]string{"rate": "1", "lasts": "1s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	<-l.(*moreLoad).clients[0].Done()
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := l.Confirm(); err != nil {
		t.Error(err)
	}
}

func TestRestartInjector(t *testing.T) {
	s := site(t)
	url, before := s.URL, s.Engine
	r, err := New("restart", map[string]string{"flags": "--max-num-seqs 2", "away": "50ms"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Confirm(); err == nil {
		t.Error("confirmed before it began")
	}
	if err := r.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := r.Confirm(); err != nil {
		t.Error(err)
	}
	if s.URL != url || s.Engine == before {
		t.Errorf("at %s, want another engine at %s", s.URL, url)
	}
	res, err := http.Get(url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

// A restart is repeated as often as it is to be, and ends with the injection.
func TestRestartAgain(t *testing.T) {
	s := site(t)
	r, err := New("restart", map[string]string{"times": "2", "every": "1s"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := r.Start(ctx, s); err != nil {
		t.Fatal(err)
	}
	<-r.(*restart).over
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := r.Confirm(); err != nil || r.(*restart).done != 2 {
		t.Errorf("restarted %d times, %v", r.(*restart).done, err)
	}
}
