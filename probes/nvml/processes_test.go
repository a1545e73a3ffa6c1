//go:build linux && cgo

package nvml

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// hostWith makes a /proc with names of processes, in the namespace given.
func hostWith(t *testing.T, namespace string, names map[int]string) string {
	t.Helper()
	root := t.TempDir()
	for pid, name := range names {
		dir := filepath.Join(root, "proc", fmt.Sprint(pid))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "comm"), []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "proc/self/ns"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(namespace, filepath.Join(root, "proc/self/ns/pid")); err != nil {
		t.Fatal(err)
	}
	return root
}

var usersScript = twoGPUs + fmt.Sprintf("0 * epoch %d", stageBegan.Unix()) + `
0 0 process.compute.100 40000000000
0 0 process.graphics.100 40000000000
0 0 process.compute.0 5
0 0 process.compute.4294967295 5
0 0 process.compute.200 none
0 0 process.mps.200 3000000
0 0 process.graphics.300 none
0 0 process.compute.400 1000000
0 1 process.compute.500 2000000
1 0 process_use.100 97 40
1 0 process_use.200 37100 5
1 0 process_use.300 10 5 60
1 0 process_use.999 10 5
2 0 process_use.100 60 20
4 0 process.compute.100 gone
4 0 process.graphics.100 gone
5 0 error.ProcessUtilization 4
`

func TestProcesses(t *testing.T) {
	s := play(t, "driver", usersScript)
	if s == nil {
		return
	}
	s.lib.root = hostWith(t, firstNamespace, map[int]string{100: "VLLM::Worker_TP", 200: "evil\x1b[2J"})
	s.moveTo(2)
	uuid := "GPU-00000000-0000-0000-0000-00000000000"
	ratio := probes.Some[float64]
	want := []probes.GPUProcess{
		{GPU: uuid + "0", PID: 100, Name: "VLLM::Worker_TP", MemoryBytes: ratio(40e9), KernelActiveRatio: ratio(.6), MemoryActiveRatio: ratio(.2)},
		{GPU: uuid + "0", PID: 200, Name: "evil[2J", MemoryBytes: ratio(3e6), MemoryActiveRatio: ratio(.05)},           // 37100 % of the time is none
		{GPU: uuid + "0", PID: 400, MemoryBytes: ratio(1e6), KernelActiveRatio: ratio(0), MemoryActiveRatio: ratio(0)}, // idle
		{GPU: uuid + "0", PID: 300, MemoryBytes: probes.None[float64](probes.Unsupported), KernelActiveRatio: probes.None[float64](probes.Stale), MemoryActiveRatio: probes.None[float64](probes.Stale)},
		{GPU: uuid + "1", PID: 500, MemoryBytes: ratio(2e6), KernelActiveRatio: ratio(0), MemoryActiveRatio: ratio(0)},
	}
	g := s.readUntil(func(g *probes.GPU) bool { return len(g.Processes) == len(want) })
	if !slices.Equal(g.Processes, want) || !g.ProcessesAt.Equal(s.now()) {
		t.Errorf("at %v: %+v\nwant %+v", g.ProcessesAt, g.Processes, want)
	}
	s.moveTo(5.5) // of one nothing is left, of the others the use is not for this user
	g = s.readUntil(func(g *probes.GPU) bool { return g.ProcessesAt.Equal(s.now()) })
	if p := g.Processes[0]; p.PID != 200 || p.KernelActiveRatio != probes.None[float64](probes.NoPermission) {
		t.Errorf("later: %+v", g.Processes)
	}
}

// The list of samples may grow between go-nvml's two questions; its wrapper panics then.
func TestProcessUseGrows(t *testing.T) {
	s := play(t, "driver", usersScript+"0 0 process_use_grows 1\n")
	if s == nil {
		return
	}
	s.moveTo(2)
	g := s.readUntil(func(g *probes.GPU) bool { return len(g.Processes) == 5 })
	if p := g.Processes[0]; p.PID != 100 || p.KernelActiveRatio.Seen() || p.KernelActiveRatio.Why() != probes.NotSeen {
		t.Errorf("%+v", p)
	}
	asked := slices.IndexFunc(s.probe.Calls(), func(c Call) bool {
		return c.Symbol == "nvmlDeviceGetProcessUtilization" && c.GPU == 0 && c.Calls == 2 && c.Failed == 2 && c.Result == "go-nvml could not take the answer"
	})
	if asked < 0 {
		t.Errorf("calls %+v", s.probe.Calls())
	}
}

func TestOldDriverProcesses(t *testing.T) {
	s := play(t, "old", usersScript)
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return len(g.Processes) == 5 })
	if p, q := g.Processes[0], g.Processes[2]; p.PID != 100 || p.MemoryBytes != probes.Some(40e9) || q.PID != 200 || q.MemoryBytes.Seen() {
		t.Errorf("%+v", g.Processes)
	}
}

// When the clock was set back, what is used now is newer than nothing that was read.
func TestProcessesAfterTheClockWasSetBack(t *testing.T) {
	now := time.Unix(1000, 0)
	d := nvmlDevice{users: users{now: func() time.Time { return now }, seen: uint64(now.Add(time.Hour).UnixMicro())}}
	if d.addUse(map[uint32]probes.GPUProcess{100: {PID: 100}}, place{}); d.users.seen != 0 {
		t.Errorf("what was read an hour from now still counts: %d", d.users.seen)
	}
}

// Of very many processes those with most memory are kept, not those listed first.
func TestManyProcesses(t *testing.T) {
	var script strings.Builder
	script.WriteString(twoGPUs)
	for i := range 600 {
		fmt.Fprintf(&script, "0 0 process.compute.%d %d\n", 1000+i, 1000+i)
	}
	s := play(t, "driver", script.String())
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return len(g.Processes) > 0 })
	if n := len(g.Processes); n != mostProcesses || g.Processes[0].PID != 1599 || g.Processes[n-1].PID != 1600-mostProcesses {
		t.Errorf("%d processes, from %+v to %+v", n, g.Processes[0], g.Processes[n-1])
	}
}

// In a container the driver's numbers are other processes'.
func TestNamesOfContainers(t *testing.T) {
	for namespace, want := range map[string]string{firstNamespace: "python3", "pid:[4026532800]": ""} {
		if got := namesOf(hostWith(t, namespace, map[int]string{7: "python3"}))(7); got != want {
			t.Errorf("in %s: %q, want %q", namespace, got, want)
		}
	}
	if got := namesOf(t.TempDir())(7); got != "" {
		t.Errorf("without /proc: %q", got)
	}
}

// Processes of a divided device are those of its instances; its own list repeats them. How
// much of the time they work nobody tells.
func TestInstanceProcesses(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 1 mig 1
0 1/0 gpu_instance 1
0 1/0 uuid MIG-1
0 1/0 name NVIDIA H200 MIG 1g.18gb
0 1/0 process.compute.700 5000000
0 1 process.compute.700 5000000
0 1 process_use.700 50 50
`)
	if s == nil {
		return
	}
	g := s.readUntil(func(g *probes.GPU) bool { return len(g.Processes) > 0 })
	none := probes.None[float64](probes.Unsupported)
	want := []probes.GPUProcess{{GPU: "MIG-1", PID: 700, MemoryBytes: probes.Some(5e6), KernelActiveRatio: none, MemoryActiveRatio: none}}
	if !slices.Equal(g.Processes, want) {
		t.Errorf("%+v, want %+v", g.Processes, want)
	}
}
