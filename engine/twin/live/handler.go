package live

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"llmtop/engine/twin/exposition"
	"llmtop/probes"
)

// SimulatedPage is where a twin tells what would be seen of its GPUs and its host.
const SimulatedPage = "/debug/simulated"

// simulated is the answer of that page; the sections are as samples have them.
type simulated struct {
	Simulated  string             `json:"simulated"` // what is: never empty
	GPU        *probes.GPU        `json:"gpu,omitempty"`
	Host       *probes.Host       `json:"host,omitempty"`
	Process    *probes.Process    `json:"process,omitempty"`
	Neighbours *probes.Neighbours `json:"neighbours,omitempty"`
	Sockets    *probes.Sockets    `json:"sockets,omitempty"`
}

// Handler serves the pages that a twin has beside its engine's, which are served by next: what
// is simulated, the metrics of the engine that it looks like, and the CPU profile of the
// simulated process.
func (t *Twin) Handler(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+SimulatedPage, t.serveSimulated)
	if t.page != nil {
		mux.HandleFunc("GET /metrics", t.serveMetrics)
	}
	if t.config.Host != nil {
		mux.HandleFunc("GET /debug/pprof/profile", t.serveProfile)
	}
	mux.Handle("/", next)
	return mux
}

func (t *Twin) serveSimulated(w http.ResponseWriter, _ *http.Request) {
	body, err := json.Marshal(t.sections(time.Now()))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

// sections are what is to be seen now.
func (t *Twin) sections(now time.Time) simulated {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(now)
	s := simulated{Simulated: t.config.Title}
	if t.config.Fleet != nil {
		s.GPU = t.config.Fleet.Section(probes.Stamp(now))
	}
	if t.config.Host != nil {
		s.Host, s.Process, s.Neighbours, s.Sockets = t.config.Host.Sections(probes.Stamp(now))
	}
	return s
}

func (t *Twin) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	now, stats, open := time.Now(), t.engine.Stats(), t.engine.InFlight()
	s := exposition.State{Used: stats.Used, Cached: stats.Cached}
	for c := range stats.Running {
		s.Running, s.Waiting = s.Running+stats.Running[c], s.Waiting+stats.Waiting[c]
	}
	var schema *probes.Schema
	var values []float64
	t.page.do(func(p *page) {
		s.Front = min(max(0, p.front), open)
		s.Back = max(0, open-s.Front-s.Running-s.Waiting)
		schema, values = p.page.Scrape(now, &s)
	})
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = exposition.WriteText(w, schema, values) // the client has gone
}

// Bounds of a profile's seconds.
const (
	usualProfile = 30
	mostProfile  = 300
)

// serveProfile answers when as much time has passed as the profile is of.
func (t *Twin) serveProfile(w http.ResponseWriter, r *http.Request) {
	seconds := usualProfile
	if text := r.FormValue("seconds"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostProfile {
			http.Error(w, "seconds must be a whole number from 1 to "+strconv.Itoa(mostProfile), http.StatusBadRequest)
			return
		}
		seconds = n
	}
	if !sleep(time.Duration(seconds)*time.Second, r.Context().Done()) {
		return
	}
	now := time.Now()
	t.mu.Lock()
	t.advance(now)
	p, err := t.config.Host.Profile(0, probes.Stamp(now), float64(seconds))
	t.mu.Unlock()
	if err != nil || p == nil {
		http.Error(w, "the simulated process has no CPU profile", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(p.Raw)
}
