package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// fakes is where the fake library's sources and its ready-made scripts are.
const fakes = "testdata/fakenvml"

// buildFakes builds the library in its kinds, each in a folder of its own below dir: a
// driver of today, one of 2019, and one that has only what starting NVML needs.
func buildFakes(dir string) (map[string]string, error) {
	sources, err := filepath.Glob(filepath.Join(fakes, "*.c"))
	if err != nil || len(sources) == 0 {
		return nil, fmt.Errorf("no %s/*.c: start this in the repository's root", fakes)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	built := map[string]string{}
	for kind, flag := range map[string]string{"": "-DDRIVER", "old": "-DOLD_DRIVER", "minimal": "-DMINIMAL"} {
		built[kind] = filepath.Join(dir, "driver"+kind)
		if err := os.MkdirAll(built[kind], 0o755); err != nil {
			return nil, err
		}
		args := append([]string{"-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-Wl,-soname,libnvidia-ml.so.1",
			flag, "-o", filepath.Join(built[kind], "libnvidia-ml.so.1")}, sources...)
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the fake library: %w: %s", err, out)
		}
	}
	return built, nil
}

// pace is when a fault happens, in seconds of a script.
type pace struct {
	begin  float64 // what a ready-made script lets happen first
	faster float64 // than that script's the time between its steps is
	xid    float64 // critical errors: they are seen only by who listens already
	waits  float64 // where time stands still until somebody listens; 0: nowhere
}

// Paces. A recording sees the host well, then the fault. A frame and a doctor look for about a
// second, and at some things once: for them the fault is there from the beginning, and critical
// errors happen as soon as somebody listens, however late that is on a busy machine.
var (
	recorded = pace{begin: 3, faster: 10, xid: 3}
	looked   = pace{begin: 0, faster: 1e6, xid: 0.2, waits: 0.1}
)

// timed is a ready-made script at another pace, with lines added. What the script lets
// happen from until on is left out.
func timed(script string, until float64, more string, p pace) (string, error) {
	var out strings.Builder
	if p.waits > 0 {
		fmt.Fprintf(&out, "%.6f * waits %g\n", 0.0, p.waits)
	}
	first := -1.0
	lines := strings.Split(script, "\n")
	for i, line := range append(lines, strings.Split(more, "\n")...) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t, err := strconv.ParseFloat(fields[0], 64)
		if err != nil || len(fields) < 4 {
			return "", fmt.Errorf("line %d is none of a script: %q", i+1, line)
		}
		if i < len(lines) && t >= until {
			continue
		}
		if t > 0 && first < 0 {
			first = t
		}
		if t > 0 {
			begin := p.begin
			if fields[2] == "xid" || fields[2] == "error.*" { // who is lost from the beginning tells of none
				begin = p.xid
			}
			t = begin + (t-first)/p.faster
		}
		fmt.Fprintf(&out, "%.6f %s\n", t, strings.Join(fields[1:], " "))
	}
	return out.String(), nil
}
