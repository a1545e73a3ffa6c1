package inject

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"llmtop/engine/model"
)

// weights are the built-in model in a file of its own, which the engine maps, so that its
// pages can be taken from the engine and must be read from the disk again.
type weights struct {
	path string
	size int64
}

// prepare writes the file and has the engine serve it.
func (w *weights) prepare(s *Site) error {
	b := model.Oncall()
	w.path, w.size = filepath.Join(s.Dir, "oncall.gguf"), int64(len(b))
	f, err := os.Create(w.path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	for _, then := range []func() error{f.Sync, f.Close} { // pages not yet written could not be taken away
		if e := then(); err == nil {
			err = e
		}
	}
	s.Serve = append(s.Serve[:len(s.Serve):len(s.Serve)], "--model", w.path)
	return err
}

// span is a range of addresses of a process.
type span struct{ from, to uint64 }

// mapped are the ranges in which a process has a file mapped.
func mapped(pid int, path string) (spans []span, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 6 || f[5] != path {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			spans = append(spans, span{a, b})
		}
	}
	if len(spans) == 0 {
		return nil, fmt.Errorf("process %d has %s not mapped", pid, path)
	}
	return spans, nil
}

// majorFaults is how often a process has waited for a page to be read; 0 where that is not to be read.
func majorFaults(pid int) float64 {
	f, err := procStat("/", pid)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseFloat(f[9], 64)
	return n
}
