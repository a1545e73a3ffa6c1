package twin

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// How often llmtop reads what is dear to read, and for how long it takes a profile.
const (
	neighboursEvery = 10 * time.Second
	profileEvery    = 10 * time.Second
	profileSeconds  = 3
	configEvery     = time.Minute
	scrapeWaits     = 2.0 // s
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
	lives      []uint32 // of the processes that these were read of
	profiles   []probes.ProbeStatus
	pace       map[string]time.Duration
}

func (s *shown) init(r *Run) {
	n := r.Scenario.Replicas
	s.scrapes, s.configs, s.lives = make([]*probes.Scrape, n), make([]*probes.EngineConfig, n), make([]uint32, n)
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
	if r.shown.due("neighbours", r.at, neighboursEvery) {
		r.shown.neighbours = neighbours
	}
	s.Host, s.Process, s.Sockets, s.Neighbours = host, process, sockets, r.shown.neighbours
	s.Probes = append(s.Probes, ok("host", at, sc.Interval), ok("process", at, sc.Interval), ok("sockets", at, sc.Interval),
		ok("neighbours", s.Neighbours.At, neighboursEvery))
	if r.Fleet != nil {
		r.Fleet.Section(at).AddTo(s)
		s.Probes = append(s.Probes, ok("gpu", at, sc.Interval))
	}
	return r.veil.Sample(s)
}

// Veil hides sections of samples, one after the other, as if nobody had ever read them: the
// sections, how their probes are doing, and the events that only they show. It remembers the
// samples that it was given, of one run in their order.
type Veil struct {
	without []string
	watch   probes.Watcher
}

// NewVeil hides some of Sections; none may be hidden, too.
func NewVeil(without ...string) *Veil { return &Veil{without: without} }

// probesOf are the names with which the probes of a section begin.
var probesOf = map[string][]string{
	WithoutGPU: {"gpu"}, WithoutHost: {"host", "process", "sockets", "neighbours"}, WithoutStages: {"requests "}, WithoutProfile: {"profile "},
}

// Sample is a copy of one without what is hidden. What it holds is the same as in the original.
func (v *Veil) Sample(of *probes.Sample) *probes.Sample {
	s := *of
	for _, section := range v.without {
		switch section {
		case WithoutGPU:
			s.GPU = nil
		case WithoutHost:
			s.Host, s.Process, s.Neighbours, s.Sockets = nil, nil, nil, nil
		case WithoutStages:
			s.Requests = nil
		case WithoutProfile:
			s.Profile = nil
		}
		s.Probes = slices.DeleteFunc(slices.Clone(s.Probes), func(p probes.ProbeStatus) bool {
			return slices.ContainsFunc(probesOf[section], func(name string) bool { return strings.HasPrefix(p.Name, name) })
		})
	}
	s.Events = v.watch.Events(&s)
	return &s
}

// engine adds what one replica tells.
func (r *Run) engine(s *probes.Sample, n int, endpoint string) {
	sc := &r.Scenario
	up, _ := r.sim.Up(n)
	status := ok("scrape "+endpoint, s.At, sc.Interval)
	switch {
	case up && r.Board.OnAt(knob.Metrics, n):
		schema, values := r.pages[n].Scrape(s.At, r.sim.State(n))
		r.shown.scrapes[n] = &probes.Scrape{At: s.At, Endpoint: endpoint, Seconds: 0.004, Schema: schema, Values: values}
		if r.shown.due("config"+strconv.Itoa(n), r.at, configEvery) || r.shown.lives[n] != r.sim.replicas[n].life {
			r.shown.configs[n], r.shown.lives[n] = r.config(n, endpoint, s.At), r.sim.replicas[n].life
		}
	case up:
		status.Err, status.LatencySeconds = "no answer within 2s", probes.Some(scrapeWaits)
	default:
		status.Err = "connection refused"
	}
	if last := r.shown.scrapes[n]; last != nil && status.Err != "" {
		status.At = last.At
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
	s.Requests = append(s.Requests, told)
	s.Probes = append(s.Probes, ok("requests "+endpoint, s.At, sc.Interval))
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
