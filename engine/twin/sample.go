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
	profiles   []probes.ProbeStatus
	pace       map[string]time.Duration
}

func (s *shown) init(r *Run) {
	n := r.Scenario.Replicas
	s.scrapes, s.configs = make([]*probes.Scrape, n), make([]*probes.EngineConfig, n)
	s.pace = map[string]time.Duration{}
	for _, endpoint := range r.Scenario.Endpoints() {
		s.profiles = append(s.profiles, probes.ProbeStatus{Name: "profile " + endpoint, EverySeconds: profileEvery.Seconds() * float64(n)})
	}
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
	r.canary(s, n, endpoint)
	told := r.sim.Requests(n, endpoint)
	if n >= sc.Prefills { // the others compute the prompts of the same requests
		r.summary.add(told.Finished)
	}
	if !r.hides(WithoutStages) {
		s.Requests = append(s.Requests, told)
		s.Probes = append(s.Probes, ok("requests "+endpoint, s.At, sc.Interval))
	}
}

// canary adds how the newest request of our own fared, and sends another when it is time.
func (r *Run) canary(s *probes.Sample, n int, endpoint string) {
	every := r.Scenario.Canary
	if every <= 0 || n < r.Scenario.Prefills {
		return
	}
	status := probes.ProbeStatus{Name: "canary " + endpoint, EverySeconds: every.Seconds()}
	if c := r.sim.Canary(n, endpoint); c != nil {
		status.At, status.Err, status.LatencySeconds = c.At, c.Err, c.E2ESeconds
		s.Canaries = append(s.Canaries, c)
	}
	s.Probes = append(s.Probes, status)
	if r.shown.due("canary"+strconv.Itoa(n), r.at, every) {
		r.sim.SendCanary(n)
	}
}

// profiles adds the newest profile: they are taken of each engine in turn.
func (r *Run) profiles(s *probes.Sample) {
	if r.hides(WithoutProfile) {
		return
	}
	endpoints := r.Scenario.Endpoints()
	if r.at >= profileSeconds*time.Second && r.shown.due("profile", r.at, profileEvery) {
		r.profile(int(r.at/profileEvery)%len(endpoints), s.At)
	}
	s.Profile = r.shown.profile
	s.Probes = append(s.Probes, r.shown.profiles...)
}

// profile takes one of an engine, which cannot be had while its process is away.
func (r *Run) profile(n int, at time.Time) {
	status := &r.shown.profiles[n]
	p, err := r.Host.Profile(n, at, profileSeconds)
	if status.Err = ""; err != nil {
		status.Err = err.Error()
		return
	}
	p.Endpoint, status.At, r.shown.profile = r.Scenario.Endpoints()[n], probes.Stamp(at), p
}

// ok is a probe that went well.
func ok(name string, at time.Time, every time.Duration) probes.ProbeStatus {
	return probes.ProbeStatus{Name: name, At: at, LatencySeconds: probes.Some(0.004), EverySeconds: every.Seconds()}
}
