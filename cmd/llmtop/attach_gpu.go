package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/amdgpu"
	"llmtop/probes/dcgm"
	"llmtop/probes/nvml"
	"llmtop/probes/scrape"
)

// The DCGM exporter: its usual address, and how often its page is fetched. It renews its
// values every 30 s; three fetches meanwhile date them well enough.
const (
	usualDCGM = "http://127.0.0.1:9400"
	dcgmEvery = 10 * time.Second
	noDCGM    = "off"
)

// dcgmAddress is the value of --dcgm. What is no address is refused at once.
type dcgmAddress string

func (a *dcgmAddress) String() string { return string(*a) }
func (a *dcgmAddress) Type() string   { return "url" }

func (a *dcgmAddress) Set(s string) error {
	if _, err := probes.ParseEndpoint(s); err != nil && s != noDCGM {
		return err
	}
	*a = dcgmAddress(s)
	return nil
}

// dcgmFlag adds --dcgm.
func (o *attachOptions) dcgmFlag(cmd *cobra.Command) {
	cmd.Flags().Var((*dcgmAddress)(&o.dcgm), "dcgm", "read GPUs from the DCGM exporter at this `url` (off: from none; else "+usualDCGM+" is asked when the driver does not tell the activity of SMs and memory)")
}

// gpuProbes are those of the GPUs. NVML's comes first: the others fill in what it lacks.
func (a *attached) gpuProbes(o attachOptions) []probes.Scheduled {
	d := &driver{Probe: nvml.New(nvml.Options{}), answered: make(chan struct{})}
	list := []probes.Scheduled{{Probe: d, Every: o.interval}}
	if o.dcgm != noDCGM {
		list = append(list, probes.Scheduled{Probe: o.exporter(d), Every: dcgmEvery})
	}
	return append(list, probes.Scheduled{Probe: amdgpu.New("/"), Every: o.interval})
}

// exporter is the probe of a DCGM exporter: of the one that was named, or of the one that
// may be on this host. No credentials are ever sent to it.
func (o *attachOptions) exporter(d *driver) probes.Probe {
	url, page, options := o.dcgm, scrape.Options{MaxBytes: 4 << 20}, dcgm.Options{}
	if url == "" { // whoever listens there is asked for this page and no other
		url, page.Path, options = usualDCGM, probes.DefaultPage, dcgm.Options{Looking: true, Wanted: d.lacks}
	}
	return dcgm.New(url, scrape.New(url, page), options)
}

// driver is the probe of NVML, which remembers whether it told all there is to tell.
type driver struct {
	*nvml.Probe
	once     sync.Once
	answered chan struct{} // closed after the first reading
	tells    atomic.Bool   // the activity of every device
}

// Read is NVML's.
func (d *driver) Read(ctx context.Context) (probes.Section, error) {
	section, err := d.Probe.Read(ctx)
	if g, ok := section.(*probes.GPU); ok {
		d.tells.Store(tellsActivity(g))
	}
	d.once.Do(func() { close(d.answered) })
	return section, err
}

var errTold = errors.New("not asked: the driver tells what it would")

// lacks is nil when there are devices whose activity the driver does not tell, or when it
// tells of none. It waits for the driver's first answer.
func (d *driver) lacks(ctx context.Context) error {
	select {
	case <-d.answered:
	case <-ctx.Done():
		return ctx.Err()
	}
	if d.tells.Load() {
		return errTold
	}
	return nil
}

// tellsActivity reports that no device lacks the activity of its SMs for good. One that has
// not told any yet, as before its second sample, may do so at any moment.
func tellsActivity(g *probes.GPU) bool {
	for i := range g.Devices {
		d := &g.Devices[i]
		why := d.SMActiveRatio.Why()
		if !d.SMActiveRatio.Seen() && !d.MIG && (why == probes.Unsupported || why == probes.NoPermission) {
			return false
		}
	}
	return len(g.Devices) > 0
}
