package cpuprofile

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

// inProcess answers requests without a socket, for as long as the asker waits.
type inProcess http.HandlerFunc

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func answer(body string) inProcess {
	return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) }
}

func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := NewWith("http://ops:geheim@gpu-7:6060/", 3, Options{Access: token(t, "t0ken"), Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/debug/pprof/profile" || r.URL.RawQuery != "seconds=3" || r.Header.Get("Authorization") != "Bearer t0ken" {
				t.Errorf("asked for %s", r.URL)
			}
			<-time.After(3 * time.Second)
			io.WriteString(w, "\x1f\x8bprofile")
		})})
		defer p.Close()
		section, err := p.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		first := section.(*probes.Profile)
		if string(first.Raw) != "\x1f\x8bprofile" || first.Seconds != 3 || first.Endpoint != "http://gpu-7:6060" || !first.At.Equal(began.Add(3*time.Second)) {
			t.Errorf("got %+v", first)
		}
		if _, err := p.Read(context.Background()); err != nil || string(first.Raw) != "\x1f\x8bprofile" {
			t.Errorf("a published profile changed: %v", err)
		}
	})
}

func TestReadErrors(t *testing.T) {
	const url = "http://gpu-7:6060/debug/pprof/profile"
	cases := []struct {
		name      string
		transport inProcess
		want      string
	}{
		{"HTML", answer("<html>"), url + ": found HTML, not a CPU profile"},
		{"empty", answer(""), url + ": found an empty page, not a CPU profile"},
		{"busy", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
		}, "another CPU profile of this engine is being taken; it allows one at a time"},
		{"too large", answer("\x1f\x8b" + strings.Repeat("x", maxBytes)), url + " is larger than 8 MiB: not read"},
	}
	for _, c := range cases {
		section, err := NewWith("gpu-7:6060", 1, Options{Transport: c.transport}).Read(context.Background())
		if section != nil || err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestReadHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := NewWith("gpu-7:6060", 2, Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })})
		if _, err := p.Read(context.Background()); err == nil || !strings.Contains(err.Error(), "no answer within 7s") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestBacksOffWhenNotExposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := NewWith("gpu-7:6060", 1, Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) { asked++; http.NotFound(w, r) })})
		for range 13 {
			_, err := p.Read(context.Background())
			if err == nil || !strings.HasPrefix(err.Error(), "CPU profiles are not exposed by this engine: ") {
				t.Fatalf("got %v", err)
			}
			if !probes.IsLacking(err) {
				t.Fatal("counts as trouble")
			}
			<-time.After(10 * time.Second)
		}
		if asked != 3 {
			t.Errorf("asked %d times in 130 s, want once a minute", asked)
		}
	})
}

func TestAddressAndSeconds(t *testing.T) {
	p := New("unix:///run/x", 5)
	if _, err := p.Read(context.Background()); err == nil || p.Close() != nil {
		t.Errorf("got %v", err)
	}
	for seconds, want := range map[int]int{-1: 1, 0: 1, 5: 5, 3600: 60} {
		if got := New("gpu-7:6060", seconds); got.seconds != want || got.Name() != "profile http://gpu-7:6060" {
			t.Errorf("%d: got %d, %q", seconds, got.seconds, got.Name())
		}
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
