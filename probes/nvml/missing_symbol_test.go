//go:build linux && cgo

package nvml

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
)

// everything is a host on which every call has something to tell.
const everything = twoGPUs + `
0 * cuda 12090
0 * temperature 60
0 * energy 123456789
0 * pstate 0
0 * architecture 9
0 * virtual 0
0 * cpus ff
0 * nodes 1
0 * slowdown 92
0 * margin 31
0 * ecc.corrected 1
0 * ecc.uncorrected 0
0 * remapped 0 0 0 0
0 * retired_pending 0
0 * pcie_gen 5
0 * pcie_gen_max 5
0 * pcie_width 16
0 * pcie_width_max 16
0 * pcie_replays 0
0 0 nvlink.0 gpu 1
0 1 nvlink.0 gpu 0
0 * topology.0 50
0 * topology.1 50
0 * gpm.1 90
0 * gpm.3 50
0 * gpm.5 30
0 * gpm.20 100
0 * gpm.21 100
0 * gpm.60 100
0 * gpm.61 100
0 0 process.compute.4242 1000000
0 0 process_use.4242 50 20
0 1 mig 1
0 1/0 gpu_instance 1
0 1/0 slices 1 1 18000
0 1/0 name NVIDIA H200 MIG 1g.18gb
`

// sectionEnv names the file into which the child writes what it read.
const sectionEnv = "LLMTOP_TEST_SECTION"

// TestNoSymbolIsNeeded: whichever driver function is missing, under any of its names, the
// process lives, and what it can no longer read is missing as unsupported.
func TestNoSymbolIsNeeded(t *testing.T) {
	if os.Getenv("FAKE_NVML_SCRIPT") != "" {
		readEverything(t)
		return
	}
	library, err := os.ReadFile(libraryFile("driver"))
	if err != nil {
		t.Skip("no C compiler to build the fake NVML with")
	}
	whole := readWith(t, library)
	if len(whole.Devices) < 2 || !whole.Devices[0].PowerWatts.Seen() || len(whole.Processes) == 0 {
		t.Fatalf("with all symbols: %+v", whole)
	}
	names := []string{"nvmlErrorString"}
	for _, spellings := range allSymbols(t) {
		for s := range spellings {
			names = append(names, s)
		}
	}
	left := make(chan struct{}, 8) // children at a time
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left <- struct{}{}
			defer func() { <-left }()
			checkLess(t, whole, readWith(t, without(t, library, name)))
		})
	}
	t.Run("all but the start", func(t *testing.T) {
		minimal, err := os.ReadFile(libraryFile("minimal"))
		if err != nil {
			t.Fatal(err)
		}
		checkLess(t, whole, readWith(t, minimal))
	})
}

// without is the library with a symbol under another name: the loader does not find it.
// Names of symbols stand between zeros.
func without(t *testing.T, library []byte, symbol string) []byte {
	t.Helper()
	name, other := []byte("\x00"+symbol+"\x00"), []byte("\x00X"+symbol[1:]+"\x00")
	if !bytes.Contains(library, name) {
		t.Fatalf("the fake library has no %s", symbol)
	}
	return bytes.ReplaceAll(library, name, other)
}

// readWith reads everything in a process of its own that has this library.
func readWith(t *testing.T, library []byte) *probes.GPU {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string][]byte{"script": []byte(everything), "clock": []byte("0"), "driver.so": library} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoSymbolIsNeeded$", "-test.v")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"), fakesEnv+"="+dir, sectionEnv+"="+filepath.Join(dir, "section"),
		"FAKE_NVML_SCRIPT="+filepath.Join(dir, "script"), "FAKE_NVML_CLOCK="+filepath.Join(dir, "clock"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: ") {
		t.Fatalf("in a process of its own: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "section"))
	if err != nil {
		t.Fatal(err)
	}
	var g probes.GPU
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return &g
}

// readEverything makes every call there is, some of which are only made after a while.
func readEverything(t *testing.T) {
	s := play(t, "driver", "")
	var g *probes.GPU
	for _, at := range []float64{0, 1, 12} {
		s.moveTo(at)
		g = s.readUntil(func(g *probes.GPU) bool { return s.settled(g) })
	}
	if err := s.probe.Close(); err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv(sectionEnv), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// settled: nothing more is read at this time.
func (s *stage) settled(g *probes.GPU) bool {
	if strings.HasPrefix(g.Note, "no NVML device") {
		return true
	}
	for _, w := range s.probe.current() {
		w.mu.Lock()
		well := w.err == nil
		done := w.latest[0].At.Equal(s.now()) && !w.listing && w.ear.asked
		w.mu.Unlock()
		if well && !done {
			return false
		}
	}
	return g.Note == ""
}

// checkLess: every reading that the whole library gives is there or missing as unsupported.
func checkLess(t *testing.T, whole, got *probes.GPU) {
	t.Helper()
	if len(got.Devices) == 0 {
		if !strings.HasPrefix(got.Note, "no NVML device: ") {
			t.Errorf("no device, and the note is %q", got.Note)
		}
		return
	}
	for i := range got.Devices {
		d := &got.Devices[i]
		for _, r := range probes.GPUReadings {
			had, has := *r.Of(&whole.Devices[i]), *r.Of(d)
			told := has.Seen() || has.Why() == probes.Unsupported || has.Why() == probes.NotExposed
			if had.Seen() && !told && d.Err == "" {
				t.Errorf("GPU %d, %s: missing, %v", d.Index, r.Name, has.Why())
			}
			if v, ok := has.Get(); ok && v == 0 && had.Or(0) != 0 {
				t.Errorf("GPU %d, %s: 0 instead of %v", d.Index, r.Name, had.Or(0))
			}
		}
	}
}
