package main

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/cpuprofile"
	"llmtop/probes/discover"
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

// attachOptions say what is looked at and how. Each command that looks at something
// live has them; flags adds what can be chosen, and ready checks it.
type attachOptions struct {
	urls     []string // none: what is found on this host
	interval time.Duration
	logs     []string         // of the engine, as enginelog.ParseSource reads them
	canary   time.Duration    // pace of our own requests; 0: none
	otlp     string           // where traces are received, host:port; empty: nowhere
	dcgm     string           // a DCGM exporter's URL, "off", or empty: one that may be here
	stderr   func() io.Writer // takes what is said before the screen starts; nil: nobody
	reaching reachOptions
	seen     *discover.Report // what was found already; nil: nobody has looked
}

// flags adds the flags of a command that attaches.
func (o *attachOptions) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.interval, "interval", time.Second, "time between samples")
	o.logFlag(cmd)
	o.canaryFlag(cmd)
	o.otlpFlag(cmd)
	o.dcgmFlag(cmd)
	o.reaching.flags(cmd)
}

// attach returns the collector of everything there is to know about the engines at
// the URLs and this host. Without URLs it attaches to the engines that are found, and
// keeps looking while there is none.
func attach(o attachOptions) *attached {
	a := &attached{}
	a.start(o.interval, a.scheduled(o))
	return a
}

// scheduled lists the probes of all that.
func (a *attached) scheduled(o attachOptions) []probes.Scheduled {
	var list []probes.Scheduled
	for _, u := range o.urls {
		list = append(list, a.engine(o, &target{url: u, access: o.reaching.named()})...)
	}
	if len(o.urls) == 0 {
		s := newSearch(o, a)
		for _, t := range s.first() {
			list = append(list, a.engine(o, t)...)
		}
		list = append(list, probes.Scheduled{Probe: s, Every: searchEvery})
	}
	interval := o.interval
	list = append(list, a.real(a.hostProbes(interval))...)
	list = append(list, a.real(a.processProbes(interval))...)
	list = append(list, a.real(a.gpuProbes(o))...)
	list = append(list, logProbes(o.logs, interval, a.pid)...)
	return append(list, o.otlpProbes(a.urls)...)
}

// engineProbes lists the probes of one engine.
func engineProbes(o attachOptions, t *target) []probes.Scheduled {
	interval := o.interval
	list := []probes.Scheduled{
		{Probe: t.passing.over(scrape.New(t.url, scrape.Options{Sleepers: true, Access: t.access, Page: t.page})), Every: interval},
		{Probe: t.requests(), Every: interval},
		{Probe: t.simulations(), Every: interval},
		{Probe: cpuprofile.NewWith(t.url, profileSeconds, cpuprofile.Options{Access: t.access}), Every: profileEvery},
	}
	list = append(list, o.configs(t)...)
	return append(list, o.canaries(t)...)
}

// requests is the probe of the engine's requests, by which it also tells its process.
func (t *target) requests() probes.Probe {
	p := requests.New(t.url, requests.Options{Access: t.access})
	t.told.Store(p)
	return p
}
