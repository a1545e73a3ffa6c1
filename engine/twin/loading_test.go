package twin

import (
	"math"
	"testing"
	"time"

	"llmtop/probes"
)

// TestRestartLoads: a new process reads the weights once, they go to the GPUs whose memory fills
// with them, and then its cores are busy; only then it serves.
func TestRestartLoads(t *testing.T) {
	sc, err := scenarioOf("gpu h100x2\nmodel llama-3-8b\ntp 2\nengine vllm\nspread 0\nworkload chat rate=5\nat 10s restart\n")
	if err != nil {
		t.Fatal(err)
	}
	r := runOf(t, sc, 110*time.Second)
	all := samplesOf(t, r)
	weights := r.Memory.Weights * 2
	read := all[109].Host.Disks[0].ReadBytesTotal.Or(0) - all[9].Host.Disks[0].ReadBytesTotal.Or(0)
	if usual := all[9].Host.Disks[0].ReadBytesTotal.Or(0) - all[0].Host.Disks[0].ReadBytesTotal.Or(0); math.Abs(read-11*usual-weights) > 0.05*weights {
		t.Errorf("%.3g bytes were read to load %.3g", read, weights)
	}
	copied, last, cpu := 0.0, 0.0, 0.0
	for _, s := range all[11:] {
		d := &s.GPU.Devices[0]
		copied += d.PCIeRxBytesPerS.Or(0) - 300e3
		used := d.MemoryUsedBytes.Or(0)
		if used < last*0.999 {
			t.Errorf("%s: memory falls from %.3g to %.3g while the engine loads", s.Mono, last, used)
		}
		last = used
		if s.Mono == 80*time.Second { // compiles
			cpu = s.Process.CPUSecondsTotal.Or(0)
		}
		if s.Mono == 82*time.Second {
			cpu = (s.Process.CPUSecondsTotal.Or(0) - cpu) / 2
		}
	}
	if math.Abs(copied-r.Memory.Weights) > 0.05*r.Memory.Weights {
		t.Errorf("%.3g bytes went to a GPU that holds weights of %.3g", copied, r.Memory.Weights)
	}
	if last < 0.8*all[9].GPU.Devices[0].MemoryUsedBytes.Or(0) {
		t.Errorf("in the end %.3g bytes are used", last)
	}
	if cpu < 1.5 || cpu > 2.5 {
		t.Errorf("two ranks that compile take %.2f cores", cpu)
	}
}

// TestCopies: what adapters and transfers between instances move goes over the GPUs' links.
func TestCopies(t *testing.T) {
	rx := func(text string, of func(*probes.GPUDevice) probes.Opt[float64]) (most float64) {
		sc, err := scenarioOf(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samplesOf(t, runOf(t, sc, 20*time.Second)) {
			most += of(&s.GPU.Devices[0]).Or(0) / 20
		}
		return most
	}
	pcie := func(d *probes.GPUDevice) probes.Opt[float64] { return d.PCIeRxBytesPerS }
	link := func(d *probes.GPUDevice) probes.Opt[float64] { return d.NVLinkTxBytesPerS }
	const one = "gpu h100x1\nmodel llama-3-8b\nworkload chat rate=5\n"
	if with, without := rx(one+"at 0s adapters 100\n", pcie), rx(one, pcie); with < without+20e6 {
		t.Errorf("%.3g bytes/s over PCIe with adapters that come and go, %.3g without", with, without)
	}
	const two = "gpu h100x2\nmodel llama-3-8b\nreplicas 2\nworkload chat rate=10\n"
	if with, without := rx(two+"disaggregate 1\n", link), rx(two, link); with < 100e6 || without > 1e6 {
		t.Errorf("%.3g bytes/s over NVLink from a prefill instance, %.3g from one that decodes itself", with, without)
	}
}

// TestBlockedLines: a thread that waits for one line after the other is blocked all the time.
func TestBlockedLines(t *testing.T) {
	sc, err := scenarioOf("gpu h100x1\nmodel llama-3-8b\nengine vllm\nworkload chat rate=10\nat 2s disk 120ms\n")
	if err != nil {
		t.Fatal(err)
	}
	all := samplesOf(t, runOf(t, sc, 40*time.Second))
	blocked := all[39].Process.BlockedSecondsTotal.Or(0) - all[9].Process.BlockedSecondsTotal.Or(0)
	if blocked < 24 {
		t.Errorf("blocked for %.1f s of 30", blocked)
	}
}

// TestCanary: our own requests see what clients see.
func TestCanary(t *testing.T) {
	const world = "gpu h100x1\nmodel llama-3-8b\nworkload chat rate=5\ncanary 2s\n"
	last := func(turns string) *probes.Sample {
		sc, err := scenarioOf(world + turns)
		if err != nil {
			t.Fatal(err)
		}
		all := samplesOf(t, runOf(t, sc, 70*time.Second))
		if all[0].Canaries != nil {
			t.Error("a canary has come back before it was sent")
		}
		if len(all[69].Canaries) != 1 {
			t.Fatalf("%d canaries", len(all[69].Canaries))
		}
		return all[69]
	}
	well := last("").Canaries[0]
	if well.Err != "" || well.Status != 200 || well.Tokens != well.Chunks || well.Tokens.Or(0) < 8 || well.TTFTSeconds.Or(9) > 0.1 || !(well.E2ESeconds.Or(0) > well.TTFTSeconds.Or(9)) || well.Sent.Or(0) != 35 || well.Failed.Or(9) != 0 {
		t.Errorf("a healthy one: %+v", well)
	}
	kept := last("at 1s proxy_buffer on\n").Canaries[0]
	if kept.Chunks.Or(0) != 1 || kept.TTFTSeconds != kept.E2ESeconds || kept.ITLSeconds.Seen() || math.Abs(kept.E2ESeconds.Or(0)-well.E2ESeconds.Or(0)) > 0.05 {
		t.Errorf("through a proxy that keeps it: %+v", kept)
	}
	if slow := last("at 1s network 0.05MB/s\n").Canaries[0]; slow.Err == "" && slow.TTFTSeconds.Or(0) < 10*well.TTFTSeconds.Or(0) {
		t.Errorf("over a slow network: %+v", slow)
	}
	for _, turn := range []string{"hang on", "restart"} {
		if s := last("at 20s " + turn + "\n"); s.Canaries[0].Err == "" || s.Canaries[0].Failed.Or(0) < 1 {
			t.Errorf("%s: %+v", turn, s.Canaries[0])
		}
	}
}
