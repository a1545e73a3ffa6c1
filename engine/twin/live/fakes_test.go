package live

import (
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/device"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
)

type fakeFleet struct{ total device.Load }

func (f *fakeFleet) Advance(_, _ time.Duration, loads []device.Load) {
	f.total.Kernel += loads[0].Kernel
	f.total.Idle += loads[0].Idle
	f.total.Bytes += loads[0].Bytes
}
func (f *fakeFleet) Condition(int) cost.GPU {
	return cost.GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}
}
func (f *fakeFleet) Section(at time.Time) *probes.GPU {
	return &probes.GPU{At: at, Devices: []probes.GPUDevice{{At: at, Name: "NVIDIA H100 80GB HBM3", PowerWatts: probes.Some(600.0)}}}
}

// seen is what it has been told so far.
func (f *fakeFleet) seen(tw *Twin) device.Load {
	tw.mu.Lock()
	defer tw.mu.Unlock()
	return f.total
}

type fakeHost struct{ total machine.Load }

func (f *fakeHost) Advance(_, _ time.Duration, loads []machine.Load) {
	f.total.Steps += loads[0].Steps
	f.total.Requests += loads[0].Requests
	f.total.BytesIn += loads[0].BytesIn
	for p, d := range loads[0].CPU {
		f.total.CPU[p] += d
	}
}
func (f *fakeHost) Slowdown(int) float64 { return 1 }
func (f *fakeHost) Sections(at time.Time) (*probes.Host, *probes.Process, *probes.Neighbours, *probes.Sockets) {
	return &probes.Host{At: at, CPUs: 96}, &probes.Process{At: at, PID: 4711}, nil, &probes.Sockets{At: at}
}
func (f *fakeHost) Profile(_ int, at time.Time, seconds float64) (*probes.Profile, error) {
	return &probes.Profile{At: at, Seconds: seconds, Raw: []byte("profile")}, nil
}

// tally is a page that counts what it is told.
type tally struct {
	exposition.Page
	arrived, queued, admitted, first, finished, rejected, tokens, firsts, stalled, gapped, cached int
}

func (p *tally) Arrived(time.Time, int)     { p.arrived++ }
func (p *tally) Queued(*exposition.Request) { p.queued++ }
func (p *tally) Admitted(r *exposition.Request) {
	p.admitted, p.cached = p.admitted+1, p.cached+r.Cached
}
func (p *tally) First(r *exposition.Request) { p.first++ }
func (p *tally) Stalled(float64)             { p.stalled++ }
func (p *tally) Restarted(exposition.Info)   {}
func (p *tally) Finished(r *exposition.Request) {
	p.finished++
	if r.Asked == 0 {
		p.rejected++
	}
}
func (p *tally) Step(s *exposition.Step) {
	p.tokens, p.firsts, p.gapped = p.tokens+s.Decode, p.firsts+s.First, p.gapped+s.Gapped
}
func (p *tally) Scrape(_ time.Time, s *exposition.State) (*probes.Schema, []float64) {
	return &probes.Schema{Series: []probes.Series{{Family: "sglang:num_running_reqs", Name: "sglang:num_running_reqs", Type: probes.Gauge}}}, []float64{float64(s.Running)}
}
