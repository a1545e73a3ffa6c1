package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/cpuprofile"
	"llmtop/probes/discover"
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

// attachOptions say what is looked at and how. Each command that looks at something
// live has them; flags adds what can be chosen, and ready checks it.
type attachOptions struct {
	urls     []string // none: what is found on this host
	interval time.Duration
	reaching reachOptions
	seen     *discover.Report // what was found already; nil: nobody has looked
}

// flags adds the flags of a command that attaches.
func (o *attachOptions) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.interval, "interval", time.Second, "time between samples")
	o.reaching.flags(cmd)
}

// attach returns the collector of everything there is to know about the engines at
// the URLs and this host. Without URLs it attaches to the engines that are found, and
// keeps looking while there is none.
func attach(o attachOptions) *attached {
	a := &attached{}
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
	list = append(list,
		probes.Scheduled{Probe: host.NewHost("/"), Every: interval},
		probes.Scheduled{Probe: host.NewProcess("/", a.pid), Every: interval},
		probes.Scheduled{Probe: nvml.New(nvml.Options{}), Every: interval})
	a.start(interval, list)
	return a
}

// engineProbes lists the probes of one engine.
func engineProbes(o attachOptions, t *target) []probes.Scheduled {
	interval, build := o.interval, t.build
	return []probes.Scheduled{
		{Probe: build(func(u string) probes.Probe { return scrape.New(u, scrape.Options{Access: t.access}) }, "scrape"), Every: interval},
		{Probe: build(func(u string) probes.Probe {
			p := requests.New(u, requests.Options{Access: t.access})
			t.told.Store(p)
			return p
		}, "requests"), Every: interval},
		{Probe: build(func(u string) probes.Probe {
			return cpuprofile.NewWith(u, profileSeconds, cpuprofile.Options{Access: t.access})
		}, "profile"), Every: profileEvery},
	}
}
