package twin

import (
	"math"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// account is what the sections of a run tell of the same things, added up.
type account struct {
	finished float64
	power    []float64 // sum of readings of each GPU
	dram     float64   // bytes of all GPUs
	samples  int
	seconds  float64
}

// TestSectionsAgree: engine, GPUs, host and requests tell of the same run, in every scenario.
func TestSectionsAgree(t *testing.T) {
	if UnderRace {
		t.Skip("a run has one goroutine: nothing to race, and ten times as long")
	}
	for _, name := range Examples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := example(t, name)
			r := runOf(t, sc, min(sc.Duration, 150*time.Second))
			var a account
			a.power = make([]float64, sc.GPUs)
			before := r.Tally()
			var first, last *probes.Sample
			for {
				s, err := r.Next(t.Context())
				if err != nil {
					break
				}
				if first == nil {
					first = s
					before = r.Tally()
				} else {
					a.take(r, s, last)
					agree(t, r, s, last)
				}
				last = s
				if t.Failed() {
					return
				}
			}
			a.whole(t, r, first, last, before)
		})
	}
}

// take adds up what a sample tells.
func (a *account) take(r *Run, s, last *probes.Sample) {
	dt := s.At.Sub(last.At).Seconds()
	a.samples++
	a.seconds += dt
	for _, q := range s.Requests {
		for _, f := range q.Finished {
			if f.Finish == string(engine.FinishStop) || f.Finish == string(engine.FinishLength) {
				a.finished++
			}
		}
	}
	for i := range s.GPU.Devices {
		d := &s.GPU.Devices[i]
		a.power[i] += d.PowerWatts.Or(0)
		a.dram += d.DRAMActiveRatio.Or(math.NaN()) * r.Scenario.GPU.Bandwidth * dt
	}
}

// agree holds the sections of one sample against each other.
func agree(t *testing.T, r *Run, s, last *probes.Sample) {
	t.Helper()
	open := 0
	for n := range r.sim.replicas {
		st, info, q := r.sim.State(n), r.sim.Info(n), s.Requests[n]
		open += q.InFlight
		if sum := st.Running + st.Waiting + st.Front + st.Back; sum != q.InFlight || st.Front < 0 || st.Back < 0 || st.Waiting < 0 {
			t.Errorf("%s: %d in flight; %d run, %d wait, %d are before and %d behind them", s.Mono, q.InFlight, st.Running, st.Waiting, st.Front, st.Back)
		}
		if st.Used > info.Blocks || st.Running > 0 && st.Used == 0 || st.Running > info.MaxNumSeqs {
			t.Errorf("%s: %d of %d blocks are used by %d sequences of at most %d", s.Mono, st.Used, info.Blocks, st.Running, info.MaxNumSeqs)
		}
		for _, f := range q.Finished {
			fits(t, f)
		}
	}
	up := true
	for n := range r.sim.replicas {
		is, _ := r.sim.Up(n)
		up = up && is
	}
	if c := s.Sockets.Connections.Or(-1); up && c != float64(open) {
		t.Errorf("%s: %g connections of %d requests in flight", s.Mono, c, open)
	}
	gpus(t, s, last)
	if s.Process == nil || last.Process == nil || s.Process.PID != last.Process.PID {
		return
	}
	used := s.Process.CPUSecondsTotal.Or(0) - last.Process.CPUSecondsTotal.Or(0)
	if busy := s.Host.CPUBusySecondsTotal.Or(0) - last.Host.CPUBusySecondsTotal.Or(0); used < 0 || used > busy+0.03 {
		t.Errorf("%s: engines took %.2f s of the CPU, the cores were busy for %.2f", s.Mono, used, busy)
	}
}

// fits checks the times and lengths of a request that has finished.
func fits(t *testing.T, f *probes.Request) {
	t.Helper()
	sum := 0.0
	for _, d := range f.Stages {
		sum += d
	}
	if e2e := f.E2ESeconds.Or(-1); math.Abs(sum-e2e) > 1e-5 || f.TTFTSeconds.Or(0) > e2e+1e-5 || f.CachedTokens > f.PromptTokens {
		t.Errorf("request %s: stages %.6f s, E2E %.6f, TTFT %.6f; %d of %d tokens cached", f.ID, sum, e2e, f.TTFTSeconds.Or(0), f.CachedTokens, f.PromptTokens)
	}
}

// gpus checks that the parts of each GPU fit together.
func gpus(t *testing.T, s, last *probes.Sample) {
	t.Helper()
	held := map[string]float64{}
	for i := range s.GPU.Processes {
		p := &s.GPU.Processes[i]
		held[p.GPU] += p.MemoryBytes.Or(0)
	}
	for i := range s.GPU.Devices {
		d := &s.GPU.Devices[i]
		if sm, graphics := d.SMActiveRatio.Or(0), d.GraphicsActiveRatio.Or(1); sm > graphics+0.01 || d.TensorActiveRatio.Or(0) > sm+0.01 || d.DRAMActiveRatio.Or(0) > 1 {
			t.Errorf("%s: GPU %d: graphics %.2f, SM %.2f, tensor %.2f, DRAM %.2f", s.Mono, i, graphics, sm, d.TensorActiveRatio.Or(0), d.DRAMActiveRatio.Or(0))
		}
		used, total := d.MemoryUsedBytes.Or(0), d.MemoryTotalBytes.Or(0)
		if now := s.GPU.ProcessesAt.Equal(s.At); used > total || now && held[d.UUID] > used {
			t.Errorf("%s: GPU %d: %.3g of %.3g bytes used, processes hold %.3g", s.Mono, i, used, total, held[d.UUID])
		}
		if d.EnergyJoulesTotal.Or(0) < last.GPU.Devices[i].EnergyJoulesTotal.Or(0) || d.PowerWatts.Or(0) > 1.1*max(d.PowerLimitWatts.Or(0), last.GPU.Devices[i].PowerLimitWatts.Or(0)) {
			t.Errorf("%s: GPU %d takes %.0f W of %.0f", s.Mono, i, d.PowerWatts.Or(0), d.PowerLimitWatts.Or(0))
		}
	}
}

// whole holds against each other what was added up over the run.
func (a *account) whole(t *testing.T, r *Run, first, last *probes.Sample, before Tally) {
	t.Helper()
	now := r.Tally()
	untold := 0.0 // what finished in the last second before a process ended goes with it
	for _, e := range r.Scenario.Timeline {
		if e.Change.Knob == knob.Restart || e.Change.Knob == knob.Upgrade {
			untold += 2 * r.Scenario.Workload.MeanRate()
		}
	}
	if got, want := a.finished, float64(now.Finished-before.Finished); r.Scenario.Prefills == 0 && (got > want || got < want-untold) {
		t.Errorf("%g requests are told as finished, of %g", got, want)
	}
	for i, sum := range a.power {
		mean := sum / float64(a.samples)
		energy := (last.GPU.Devices[i].EnergyJoulesTotal.Or(0) - first.GPU.Devices[i].EnergyJoulesTotal.Or(0)) / a.seconds
		if math.Abs(mean-energy) > 0.08*energy {
			t.Errorf("GPU %d took %.0f W by its readings, %.0f W by its energy", i, mean, energy)
		}
	}
	tokens := float64(now.Sampled-before.Sampled) * r.sim.front.EventBytes
	if sent := last.Host.NICs[0].TxBytesTotal.Or(0) - first.Host.NICs[0].TxBytesTotal.Or(0); sent < 0.98*tokens || sent > 1.6*tokens+64e3*a.seconds {
		t.Errorf("%.3g bytes left for tokens of %.3g", sent, tokens)
	}
	m := &r.Scenario.Model
	if steps := float64(now.Steps - before.Steps); !m.MoE() && r.Memory.Weights > 0 && !math.IsNaN(a.dram) {
		if least := steps * 0.9 * r.Memory.Weights * float64(r.ranks()); a.dram < least {
			t.Errorf("%.3g bytes of GPU memory were read, %g steps read weights of %.3g", a.dram, steps, least)
		}
	}
}

// TestRareEvents: what happens to a GPU or an engine is told at the moment, by whoever sees it.
func TestRareEvents(t *testing.T) {
	const world = "gpu h100x2\nmodel llama-3-8b\ntp 2\nworkload chat rate=8\n"
	type told map[string]int // the first sample with an event of a kind
	for _, c := range []struct {
		name, turns string
		want        told
		none        []string
	}{
		{"nothing", "", told{}, []string{probes.EventRestart, probes.EventGPUXid, probes.EventProbeError, probes.EventGPULost}},
		{"restart", "at 10s load_time ×0.2\nat 10s restart\n", told{probes.EventRestart: 10, probes.EventProbeError: 10}, []string{probes.EventGPUXid}},
		{"an application's error", "at 10s gpu0 xid 13\n", told{probes.EventGPUXid: 10}, []string{probes.EventRestart, probes.EventProbeError}},
		{"memory that cannot be set right ends the process", "at 10s load_time ×0.2\nat 10s gpu1 ecc 2\n", told{probes.EventGPUXid: 10, probes.EventProbeError: 10, probes.EventRestart: 11}, []string{probes.EventGPULost}},
		{"off the bus by itself", "at 10s gpu0 xid 79\n", told{probes.EventGPUXid: 10, probes.EventGPULost: 10, probes.EventProbeError: 10}, []string{probes.EventRestart}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc, err := scenarioOf(world + c.turns)
			if err != nil {
				t.Fatal(err)
			}
			got := told{}
			for _, s := range samplesOf(t, runOf(t, sc, 40*time.Second)) {
				for _, e := range s.Events {
					if _, before := got[e.Kind]; !before {
						got[e.Kind] = int(s.Mono / time.Second)
					}
				}
			}
			for kind, at := range c.want {
				if got[kind] != at {
					t.Errorf("%s is told at %d s, want %d", kind, got[kind], at)
				}
			}
			for _, kind := range c.none {
				if at, was := got[kind]; was {
					t.Errorf("%s is told at %d s", kind, at)
				}
			}
		})
	}
}
