package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/cpuprofile"
	"llmtop/probes/host"
	"llmtop/probes/nvml"
	"llmtop/probes/requests"
	"llmtop/probes/scrape"
)

// A CPU profile of profileSeconds is asked for every profileEvery: enough samples
// for shares (at 100 Hz, per busy core), with the engine undisturbed most of the time.
const (
	profileSeconds = 3
	profileEvery   = 10 * time.Second
)

// apiKey is the key without the newline that a file or a copy leaves at its end.
func apiKey() string { return strings.TrimSpace(os.Getenv(apiKeyVariable)) }

func scrapeOptions() scrape.Options { return scrape.Options{Bearer: apiKey()} }

// attachOptions say what is looked at and how. Each command that looks at something
// live has them; flags adds what can be chosen.
type attachOptions struct {
	urls     []string // none: look on the common ports
	interval time.Duration
	logs     []string         // of the engine, as enginelog.ParseSource reads them
	canary   time.Duration    // pace of our own requests; 0: none
	otlp     string           // where traces are received, host:port; empty: nowhere
	stderr   func() io.Writer // takes what is said before the screen starts; nil: nobody
}

// flags adds the flags of a command that attaches.
func (o *attachOptions) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.interval, "interval", time.Second, "time between samples")
	o.logFlag(cmd)
	o.canaryFlag(cmd)
	o.otlpFlag(cmd)
}

// attach returns the collector of everything there is to know about the engines at
// the URLs and this host. Without URLs it keeps looking on the common ports until one answers.
func attach(o attachOptions) *probes.Collector {
	urls, interval := o.urls, o.interval
	var list []probes.Scheduled
	var pid func() int
	engines := func() []string { return urls }
	if len(urls) == 0 {
		f := &finder{}
		engines = func() []string {
			return slices.DeleteFunc([]string{f.current()}, func(u string) bool { return u == "" })
		}
		list, pid = engineProbes(o, func(make func(string) probes.Probe, name string) probes.Probe {
			return &lazy{name: name, finder: f, make: make}
		}, f.current)
	}
	for i, u := range urls {
		more, p := engineProbes(o, func(make func(string) probes.Probe, _ string) probes.Probe { return make(u) },
			func() string { return u })
		list = append(list, more...)
		if i == 0 {
			pid = p
		}
	}
	list = append(list,
		probes.Scheduled{Probe: host.NewHost("/"), Every: interval},
		probes.Scheduled{Probe: host.NewProcess("/", pid), Every: interval},
		probes.Scheduled{Probe: nvml.New(nvml.Options{}), Every: interval})
	list = append(list, logProbes(o.logs, interval, pid)...)
	list = append(list, o.otlpProbes(engines)...)
	return probes.NewCollector(interval, list...)
}

// engineProbes lists the probes of one engine. build makes a probe now or when its
// URL is known; current returns the URL, "" while unknown. pid finds the engine's process.
func engineProbes(o attachOptions, build builder, current func() string) (list []probes.Scheduled, pid func() int) {
	interval, seen := o.interval, &sighting{}
	var told atomic.Pointer[requests.Probe] // once made; the engine tells it its pid
	var finder atomic.Pointer[host.Finder]
	list = []probes.Scheduled{
		{Probe: build(func(u string) probes.Probe { return seen.over(scrape.New(u, scrapeOptions())) }, "scrape"), Every: interval},
		{Probe: build(func(u string) probes.Probe {
			p := requests.New(u, requests.Options{Bearer: apiKey()})
			told.Store(p)
			return p
		}, "requests"), Every: interval},
		{Probe: build(func(u string) probes.Probe { return cpuprofile.New(u, profileSeconds) }, "profile"), Every: profileEvery},
	}
	pid = func() int {
		addr := localAddr(current())
		if addr == "" {
			return 0
		}
		if p := told.Load(); p != nil && p.PID() > 0 {
			return p.PID()
		}
		if finder.Load() == nil {
			finder.CompareAndSwap(nil, host.NewFinder(addr))
		}
		return finder.Load().PID()
	}
	list = append(list, o.configs(build, pid, seen)...)
	list = append(list, o.canaries(build)...)
	return list, pid
}

// localAddr is the host:port of a URL that points to this host's loopback, so that
// the process behind it is ours to look at; "" for any other.
func localAddr(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	switch u.Hostname() {
	case "127.0.0.1", "localhost", "::1":
		return u.Host
	}
	return ""
}

// finder looks for an engine on the common ports until it has found one, at most
// every few seconds however many probes ask.
type finder struct {
	mu   sync.Mutex
	url  string
	next time.Time
}

const findEvery = 2 * time.Second

func (f *finder) current() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.url
}

func (f *finder) find(ctx context.Context) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.url == "" && !time.Now().Before(f.next) {
		f.next = time.Now().Add(findEvery)
		if found := discover(ctx, time.Second); len(found) > 0 {
			f.url = found[0]
		}
	}
	return f.url
}

// lazy is a probe of an engine that is still being looked for.
type lazy struct {
	name   string
	finder *finder
	make   func(url string) probes.Probe
	probe  probes.Probe
}

func (l *lazy) Name() string { return l.name }

func (l *lazy) Read(ctx context.Context) (probes.Section, error) {
	if l.probe == nil {
		found := l.finder.find(ctx)
		if found == "" {
			return nil, fmt.Errorf("no engine found on 127.0.0.1, ports %s", triedPorts())
		}
		l.probe = l.make(found)
	}
	return l.probe.Read(ctx)
}

// Close ends the probe, once there is one.
func (l *lazy) Close() error { return closeProbe(l.probe) }

func closeProbe(p probes.Probe) error {
	if c, ok := p.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
