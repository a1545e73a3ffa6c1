package scrape

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

// TestTheMetricsPageIsFound: the address named no page, and the engine has its metrics elsewhere.
func TestTheMetricsPageIsFound(t *testing.T) {
	const (
		metrics = "a 1\n"
		json    = `[{"iter": 1}]`
	)
	for name, c := range map[string]struct {
		endpoint string
		pages    map[string]string // what the engine has; anything else is 404
		want     []string          // paths asked for by three reads, a second apart
		err      string            // of the last read
	}{
		"at the usual place": {"gpu-7:8000", map[string]string{"/metrics": metrics, "/v1/metrics": metrics}, []string{"/metrics", "/metrics", "/metrics"}, ""},
		"trtllm-serve": {"gpu-7:8000", map[string]string{"/metrics": json, "/prometheus/metrics": metrics},
			[]string{"/metrics", "/prometheus/metrics", "/prometheus/metrics", "/prometheus/metrics"}, ""},
		"NIM":   {"gpu-7:8000/a", map[string]string{"/a/v1/metrics": metrics}, []string{"/a/metrics", "/a/prometheus/metrics", "/a/v1/metrics", "/a/v1/metrics", "/a/v1/metrics"}, ""},
		"named": {"gpu-7:8000/v1/metrics", map[string]string{"/metrics": metrics}, []string{"/v1/metrics", "/v1/metrics", "/v1/metrics"}, "404"},
		"none":  {"gpu-7:8000", nil, []string{"/metrics", "/prometheus/metrics", "/v1/metrics", "/metrics", "/metrics"}, "http://gpu-7:8000/metrics: not exposed"},
		"a queue alone": {"gpu-7:8000", map[string]string{"/metrics": json},
			[]string{"/metrics", "/prometheus/metrics", "/v1/metrics", "/prometheus/metrics", "/prometheus/metrics"}, "http://gpu-7:8000/prometheus/metrics: not exposed"},
		"HTML is no reason to search": {"gpu-7:8000", map[string]string{"/metrics": "<html>", "/v1/metrics": metrics}, []string{"/metrics", "/metrics", "/metrics"}, "found HTML"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				p := New(c.endpoint, Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
					asked = append(asked, r.URL.Path)
					body, ok := c.pages[r.URL.Path]
					if !ok {
						http.NotFound(w, r)
						return
					}
					io.WriteString(w, body)
				})})
				var section probes.Section
				var err error
				for range 3 {
					section, err = p.Read(context.Background())
					<-time.After(time.Second)
				}
				if !slices.Equal(asked, c.want) {
					t.Errorf("asked for %v, want %v", asked, c.want)
				}
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || err == nil && section == nil {
					t.Errorf("got %v, %v", section, err)
				}
			})
		})
	}
}

// An engine that gets its metrics later is found at the next search, without having been
// asked for every page every second.
func TestTheMetricsPageIsLookedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, asked := time.Now(), 0
		p := New("gpu-7:8000", Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
			if asked++; r.URL.Path == "/v1/metrics" && time.Since(began) > 10*time.Second {
				io.WriteString(w, "a 1\n")
				return
			}
			http.NotFound(w, r)
		})})
		for n := 1; ; n++ {
			if _, err := p.Read(context.Background()); err == nil {
				if took := time.Since(began); took < searchEvery || took > searchEvery+2*time.Second || asked > n+5 {
					t.Errorf("found after %s and %d pages", took, asked)
				}
				return
			} else if n > 100 {
				t.Fatal(err)
			}
			<-time.After(time.Second)
		}
	})
}

// What listens at an address may become another engine: what is asked for follows it.
func TestAnotherEngineInItsPlace(t *testing.T) {
	const metrics, queue, refusal = "a 1\n", `[{"iter": 1}]`, `{"error": "starting"}`
	type state map[string]string // pages; nil: nobody listens
	for name, c := range map[string]struct {
		states []state // one after the other, two reads each, a search apart
		page   []string
		want   string // paths asked for, a letter each: m, p, v; by state
		err    string // of the last read
	}{
		"vLLM, then trtllm-serve":       {[]state{{"/metrics": metrics}, {"/metrics": queue, "/prometheus/metrics": metrics}}, nil, "mm mpp", ""},
		"trtllm-serve, then vLLM":       {[]state{{"/metrics": queue, "/prometheus/metrics": metrics}, nil, {"/metrics": metrics}}, nil, "mpp pm mm", ""},
		"a queue, then vLLM":            {[]state{{"/metrics": queue}, nil, {"/metrics": metrics}}, nil, "mpvpv pm mm", ""},
		"a gateway that says JSON once": {[]state{{"/metrics": refusal}, {"/metrics": metrics}}, nil, "mpvmpv mm", ""},
		"gone for a moment":             {[]state{{"/metrics": metrics}, {}, {"/metrics": metrics}}, nil, "mm mm mm", ""},
		"found anew elsewhere":          {[]state{{"/metrics": metrics}, {"/v1/metrics": metrics}}, []string{"/metrics", "/v1/metrics"}, "mm vv", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now state
				asked, page := "", ""
				p := New("gpu-7:8000", Options{Page: func() string { return page }, Transport: either(func(w http.ResponseWriter, r *http.Request) {
					asked += r.URL.Path[1:2]
					if body, ok := now[r.URL.Path]; ok {
						io.WriteString(w, body)
						return
					}
					http.NotFound(w, r)
				}, func() bool { return now != nil }, func(path string) { asked += path[1:2] })})
				var err error
				for i, s := range c.states {
					if now = s; i > 0 {
						asked += " "
					}
					if c.page != nil {
						page = c.page[i]
					}
					for range 2 {
						_, err = p.Read(context.Background())
						<-time.After(searchEvery + time.Second)
					}
				}
				if asked != c.want || (err == nil) != (c.err == "") {
					t.Errorf("asked for %q, want %q; %v", asked, c.want, err)
				}
			})
		})
	}
}

// either answers in process while there is somebody, else refuses.
func either(answer http.HandlerFunc, there func() bool, refused func(path string)) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if there() {
			return inProcess(answer).RoundTrip(r)
		}
		refused(r.URL.Path)
		return nil, syscall.ECONNREFUSED
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
