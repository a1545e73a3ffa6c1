package main

import (
	"context"
	"io"
	"sync/atomic"

	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/engineconfig"
	"llmtop/probes/host"
)

// configs is the probe of one engine's configuration. It looks at each tick whether the
// engine is another one, and asks it once a minute.
func (o *attachOptions) configs(t *target) []probes.Scheduled {
	return []probes.Scheduled{{Every: o.interval, Probe: engineconfig.New(t.url, engineconfig.Options{
		Access: t.access, PID: t.process, Dialect: t.passing.dialect, Restarts: t.passing.restarts.Load,
		Argv:  func(pid int) ([]string, error) { return host.CommandLine("/", pid) },
		Ranks: func(pid int) []probes.Rank { return host.Ranks("/", pid) },
	})}}
}

// passing keeps what the metrics of one engine tell that its other probes want to know.
type passing struct {
	restarts atomic.Int64 // how often it was seen to restart
	name     atomic.Pointer[string]
}

// dialect is the engine's by its metrics, "" while there are none.
func (l *passing) dialect() string {
	if name := l.name.Load(); name != nil {
		return *name
	}
	return ""
}

// over is the engine's scrape probe, looked at in passing.
func (l *passing) over(p probes.Probe) probes.Probe { return &watchedScrape{Probe: p, out: l} }

type watchedScrape struct {
	probes.Probe
	out    *passing
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
func (w *watchedScrape) Close() error {
	if c, ok := w.Probe.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
