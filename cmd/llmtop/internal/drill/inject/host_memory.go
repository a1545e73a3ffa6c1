package inject

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// tightMemory is a memory limit of the engine's cgroup that is too low at times, so that
// pages of its weights are taken from it and must be read again.
//
//	squeezes  a second
//
// It takes pages of files alone: nothing is swapped, and the kernel kills nobody for
// want of memory, as the limit is above what cannot be given back, and whoever is at it
// waits until it is raised (version 1) or is slowed down (version 2).
type tightMemory struct {
	squeezes float64

	weights weights
	group   *group
	end     func() error
	pid     int
	faults  float64 // major, before; then while it lasted
	over    bool
}

func newTightMemory(with Settings) (Injector, error) {
	n, err := with.Number("squeezes", 0, 0.1, 1000)
	if n == 0 && err == nil {
		err = errors.New("no number of squeezes is given")
	}
	return &tightMemory{squeezes: n, end: nothing}, err
}

func (m *tightMemory) Prepare(_ context.Context, s *Site) error { return m.weights.prepare(s) }

func (m *tightMemory) Start(ctx context.Context, s *Site) (err error) {
	m.pid = s.Engine.PID()
	spans, err := mapped(m.pid, m.weights.path)
	if err != nil {
		return err
	}
	if m.group, err = newGroup("/", "memory", m.pid); err != nil {
		return err
	}
	if !m.group.v2 {
		if err := m.group.set("memory.oom_control", "1"); err != nil {
			return lacksGroup("memory", err)
		}
	}
	// What it has touched is charged to the group it was in; what it reads anew to this one.
	if err := pageOut(m.pid, spans); err != nil {
		return err
	}
	m.faults = majorFaults(m.pid)
	m.end = repeat(ctx, time.Duration(float64(time.Second)/m.squeezes), m.squeeze)
	return nil
}

// slack is what the limit is above all that the group holds, between two squeezes.
const slack = 8 << 20

// squeeze lowers the limit to what cannot be given back, and raises it again. That the
// kernel does not get so low is no error.
func (m *tightMemory) squeeze() error {
	usage, files, limit, low := "memory.usage_in_bytes", "cache", "memory.limit_in_bytes", int64(0)
	if m.group.v2 {
		usage, files, limit = "memory.current", "file", "memory.high"
	}
	all := int64(m.group.read(usage, ""))
	low = max(0, all-int64(m.group.read("memory.stat", files)))
	_ = m.group.set(limit, fmt.Sprint(low))
	if err := m.group.set(limit, fmt.Sprint(all+m.weights.size+slack)); err != nil {
		return fmt.Errorf("raising the memory limit: %w", err)
	}
	return nil
}

func (m *tightMemory) Stop() error {
	err := m.end()
	if m.pid != 0 && !m.over {
		m.over, m.faults = true, majorFaults(m.pid)-m.faults
	}
	return errors.Join(err, m.group.undo())
}

// Confirm asks that the engine waited for pages to be read.
func (m *tightMemory) Confirm() error {
	if !m.over || m.faults < fewestFaults {
		return fmt.Errorf("the engine waited for %.0f pages of its weights to be read", m.faults)
	}
	return nil
}

// fewestFaults is a number of major faults that only happens when pages are taken away;
// each may read all that was taken.
const fewestFaults = 20
