package main

import (
	"context"
	"sync/atomic"

	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/engineconfig"
	"llmtop/probes/host"
)

// configs is the probe of one engine's configuration. It looks at each tick whether the
// engine is another one, and asks it once a minute.
func (o *attachOptions) configs(build builder, pid func() int, seen *sighting) []probes.Scheduled {
	return []probes.Scheduled{{Every: o.interval, Probe: build(func(u string) probes.Probe {
		return engineconfig.New(u, engineconfig.Options{
			Bearer: apiKey(), PID: pid, Dialect: seen.dialect, Restarts: seen.restarts.Load,
			Argv: func(pid int) ([]string, error) { return host.CommandLine("/", pid) },
		})
	}, "config")}}
}

// sighting keeps what the metrics of one engine tell that its other probes want to know.
type sighting struct {
	restarts atomic.Int64 // how often it was seen to restart
	name     atomic.Pointer[string]
}

// dialect is the engine's by its metrics, "" while there are none.
func (l *sighting) dialect() string {
	if name := l.name.Load(); name != nil {
		return *name
	}
	return ""
}

// over is the engine's scrape probe, looked at in passing.
func (l *sighting) over(p probes.Probe) probes.Probe { return &watchedScrape{Probe: p, out: l} }

type watchedScrape struct {
	probes.Probe
	out    *sighting
	before *probes.Scrape
}

func (w *watchedScrape) Read(ctx context.Context) (probes.Section, error) {
	section, err := w.Probe.Read(ctx)
	if now, ok := section.(*probes.Scrape); ok && now != nil {
		if w.before == nil || w.before.Schema != now.Schema {
			if e := dialect.Decode(now); e != nil {
				w.out.name.Store(&e.Dialect)
			}
		}
		if w.before != nil && probes.Restarted(w.before, now) {
			w.out.restarts.Add(1)
		}
		w.before = now
	}
	return section, err
}

// Close ends the probe.
func (w *watchedScrape) Close() error { return closeProbe(w.Probe) }
