package twin

import (
	"slices"
	"strconv"
	"time"

	"llmtop/probes"
)

// How often llmtop reads what is dear to read, and for how long it takes a profile.
const (
	neighboursEvery = 10 * time.Second
	profileEvery    = 10 * time.Second
	profileSeconds  = 3
	configEvery     = time.Minute
)

// The sections that a scenario can hide, as "without" names them.
const (
	WithoutGPU     = "gpu"
	WithoutHost    = "host"
	WithoutStages  = "stages"
	WithoutProfile = "profile"
)

// shown is what was read last of that which is not read for each sample.
type shown struct {
	scrapes    []*probes.Scrape // by replica; carried on while one does not answer
	neighbours *probes.Neighbours
	profile    *probes.Profile
	configs    []*probes.EngineConfig
	refused    []string // by replica: why it was not scraped; empty: it was
	err        error    // of the profile
	pace       map[string]time.Duration
}

func (s *shown) init(r *Run) {
	n := r.Scenario.Replicas
	s.scrapes, s.refused, s.configs = make([]*probes.Scrape, n), make([]string, n), make([]*probes.EngineConfig, n)
	s.pace = map[string]time.Duration{}
}

// due reports whether something that is read every so often is read now.
func (s *shown) due(what string, now, every time.Duration) bool {
	next, read := s.pace[what]
	if read && now < next {
		return false
	}
	s.pace[what] = now + every
	return true
}

func (r *Run) hides(section string) bool { return slices.Contains(r.Scenario.Without, section) }

// sample is what is to be seen now.
func (r *Run) sample() *probes.Sample {
	sc := &r.Scenario
	at := probes.Stamp(sc.began().Add(r.at))
	s := &probes.Sample{Seq: r.seq, At: at, Mono: r.at - sc.Warm, Interval: sc.Interval, Simulated: true}
	for n, endpoint := range sc.Endpoints() {
		r.engine(s, n, endpoint)
	}
	r.profiles(s)
	host, process, neighbours, sockets := r.Host.Sections(at)
	if !r.hides(WithoutHost) {
		if r.shown.due("neighbours", r.at, neighboursEvery) {
			r.shown.neighbours = neighbours
		}
		s.Host, s.Process, s.Sockets, s.Neighbours = host, process, sockets, r.shown.neighbours
		s.Probes = append(s.Probes, ok("host", at, sc.Interval), ok("process", at, sc.Interval), ok("sockets", at, sc.Interval),
			ok("neighbours", s.Neighbours.At, neighboursEvery))
	}
	if r.Fleet != nil && !r.hides(WithoutGPU) {
		r.Fleet.Section(at).AddTo(s)
		s.Probes = append(s.Probes, ok("gpu", at, sc.Interval))
	}
	s.Events = r.watch.Events(s)
	return s
}

// engine adds what one replica tells.
func (r *Run) engine(s *probes.Sample, n int, endpoint string) {
	sc := &r.Scenario
	up, _ := r.sim.Up(n)
	status := ok("scrape "+endpoint, s.At, sc.Interval)
	if up {
		schema, values := r.pages[n].Scrape(s.At, r.sim.State(n))
		r.shown.scrapes[n] = &probes.Scrape{At: s.At, Endpoint: endpoint, Seconds: 0.004, Schema: schema, Values: values}
		if r.shown.due("config"+strconv.Itoa(n), r.at, configEvery) || r.shown.configs[n].Version != r.version(n) {
			r.shown.configs[n] = r.config(n, endpoint, s.At)
		}
	} else {
		status.Err = "connection refused"
		if last := r.shown.scrapes[n]; last != nil {
			status.At = last.At
		}
	}
	if last := r.shown.scrapes[n]; last != nil {
		s.Scrapes = append(s.Scrapes, last)
	}
	if c := r.shown.configs[n]; c != nil {
		s.Configs = append(s.Configs, c)
	}
	s.Probes = append(s.Probes, status)
	told := r.sim.Requests(n, endpoint)
	r.summary.add(told.Finished, sc.Start)
	if !r.hides(WithoutStages) {
		s.Requests = append(s.Requests, told)
		s.Probes = append(s.Probes, ok("requests "+endpoint, s.At, sc.Interval))
	}
}

// profiles adds a profile of each engine in turn.
func (r *Run) profiles(s *probes.Sample) {
	if r.hides(WithoutProfile) {
		return
	}
	endpoints := r.Scenario.Endpoints()
	name := "profile " + endpoints[0]
	if r.at >= profileSeconds*time.Second && r.shown.due("profile", r.at, profileEvery) {
		n := int(r.at/profileEvery) % len(endpoints)
		name = "profile " + endpoints[n]
		p, err := r.Host.Profile(n, s.At, profileSeconds)
		if r.shown.err = err; err == nil && p != nil {
			p.Endpoint = endpoints[n]
			r.shown.profile = p
		}
	}
	s.Profile = r.shown.profile
	status := probes.ProbeStatus{Name: name, EverySeconds: profileEvery.Seconds()}
	if s.Profile != nil {
		status.At = s.Profile.At
	}
	if r.shown.err != nil {
		status.Err = r.shown.err.Error()
	}
	s.Probes = append(s.Probes, status)
}

// ok is a probe that went well.
func ok(name string, at time.Time, every time.Duration) probes.ProbeStatus {
	return probes.ProbeStatus{Name: name, At: at, LatencySeconds: probes.Some(0.004), EverySeconds: every.Seconds()}
}
