package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
	"llmtop/probes/requests"
	"llmtop/probes/simulated"
)

// target is an engine that is attached to.
type target struct {
	url    string
	access probes.Access
	title  string                   // what it is called, when it was found
	seen   atomic.Pointer[sighting] // its process, when it was found; nil: it was named

	passing passing                        // what its metrics tell in passing
	told    atomic.Pointer[requests.Probe] // once made; the engine tells it its pid
	twin    atomic.Pointer[simulated.Probe]
	finder  atomic.Pointer[host.Finder]
}

// sighting is the process of an engine as a search found it.
type sighting struct {
	pid     int    // 0: it is not to be seen
	page    string // where its metrics are
	process host.Being
	trust   func() bool        // whether it may have credentials
	peer    func(uid int) bool // whose its Unix socket may be
}

// page is where the metrics are by the last search, "" for an engine that was named.
func (t *target) page() string {
	if s := t.seen.Load(); s != nil {
		return s.page
	}
	return ""
}

// ended reports that the process that was found is no more.
func (t *target) ended() bool {
	s := t.seen.Load()
	return s != nil && s.pid > 0 && !s.process.Alive()
}

// process is the engine's process, 0 while it is not known. What a simulated engine would
// have as one is told by itself.
func (t *target) process() int {
	if t.simulated() {
		return 0
	}
	if s := t.seen.Load(); s != nil && s.pid > 0 && s.process.Alive() {
		return s.pid
	}
	addr := localAddr(t.url)
	if addr == "" {
		return 0
	}
	// What an engine in a container calls its number is another process's here.
	if p := t.told.Load(); p != nil && p.PID() > 0 && !isElsewhere(t.url) {
		return p.PID()
	}
	if t.finder.Load() == nil {
		t.finder.CompareAndSwap(nil, host.NewFinder(addr))
	}
	return t.finder.Load().PID()
}

// localAddr is the address of a URL as package host finds its process, when the URL
// points to this host: loopback, a Unix socket, a network namespace; "" for any other.
func localAddr(base string) string {
	e, err := probes.ParseEndpoint(base)
	switch {
	case err != nil || !e.Local():
		return ""
	case e.Socket() != "":
		return "unix:" + e.Socket()
	}
	return e.Host() + e.Namespace()
}

func isElsewhere(base string) bool {
	e, err := probes.ParseEndpoint(base)
	return err == nil && e.Elsewhere()
}

// mostAttached bounds the engines attached to without having been named.
const mostAttached = 16

// attached is what is attached to: a collector to which engines may be added.
type attached struct {
	collector *probes.Collector

	mu      sync.Mutex
	targets []*target
	early   []probes.Scheduled // of engines added before the collector began
}

// engine takes an engine in and returns its probes.
func (a *attached) engine(o attachOptions, t *target) []probes.Scheduled {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.targets = append(a.targets, t)
	return engineProbes(o, t)
}

// start begins to collect.
func (a *attached) start(interval time.Duration, list []probes.Scheduled) {
	c := probes.NewCollector(interval, list...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.collector = c
	c.Add(a.early...)
	a.early = nil
}

// add attaches to one engine more.
func (a *attached) add(o attachOptions, t *target) {
	list := a.engine(o, t)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.collector == nil { // the search reads before NewCollector has returned
		a.early = append(a.early, list...)
		return
	}
	a.collector.Add(list...)
}

// all lists the engines attached to.
func (a *attached) all() []*target {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.targets[:len(a.targets):len(a.targets)]
}

// urls lists their addresses.
func (a *attached) urls() []string {
	var out []string
	for _, t := range a.all() {
		out = append(out, t.url)
	}
	return out
}

// pid is the process of the first engine that has one.
func (a *attached) pid() int {
	for _, t := range a.all() {
		if pid := t.process(); pid > 0 {
			return pid
		}
	}
	return 0
}

// Next is the collector's.
func (a *attached) Next(ctx context.Context) (*probes.Sample, error) { return a.collector.Next(ctx) }

// Close ends the collection.
func (a *attached) Close() error { return a.collector.Close() }
