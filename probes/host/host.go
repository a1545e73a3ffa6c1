// Package host reads the machine and the engine's process: in flow /proc and the
// cgroup files below a root that is a parameter, out flow *probes.Host and
// *probes.Process sections with cumulative counters. A reading that the kernel
// does not offer, or not to this user, is an empty Opt with the reason.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/shirou/gopsutil/v3/common"
	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/mem"

	"llmtop/probes"
)

// Host reads the machine as a whole. It is a probes.Probe.
type Host struct {
	root string
	env  common.EnvMap // where gopsutil looks
	cpus int           // counted once
}

// NewHost returns a probe of the machine below root ("" or "/" for this one).
func NewHost(root string) *Host {
	root = filepath.Clean("/" + root)
	return &Host{root: root, env: common.EnvMap{
		common.HostProcEnvKey: filepath.Join(root, "proc"),
		common.HostSysEnvKey:  filepath.Join(root, "sys"),
	}}
}

// Name is "host".
func (h *Host) Name() string { return "host" }

// Read reads CPU, memory, load and pressure. What cannot be read is missing in
// the section; only a machine without a readable /proc/stat is an error.
func (h *Host) Read(ctx context.Context) (probes.Section, error) {
	ctx = context.WithValue(ctx, common.EnvKey, h.env)
	s := &probes.Host{At: probes.Stamp(time.Now())}
	err := h.cpu(ctx, s)
	h.memory(ctx, s)
	h.kernel(s)
	if err != nil {
		return nil, fmt.Errorf("reading the host's CPU times: %w", err)
	}
	return s, nil
}

// cpu sums user, nice, system, interrupts and steal; guest time is inside user.
func (h *Host) cpu(ctx context.Context, s *probes.Host) error {
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil {
		return err
	}
	if len(times) == 0 {
		return errors.New("no cpu line in /proc/stat")
	}
	t := times[0]
	s.CPUBusySecondsTotal = probes.Some(t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal)
	s.CPUStealSecondsTotal = probes.Some(t.Steal)
	s.CPUWaitSecondsTotal = probes.Some(t.Iowait)
	if h.cpus == 0 {
		h.cpus, _ = cpu.CountsWithContext(ctx, true)
	}
	s.CPUs = h.cpus
	return nil
}

func (h *Host) memory(ctx context.Context, s *probes.Host) {
	s.MemoryTotalBytes, s.MemoryAvailableBytes = probes.None[float64](probes.NotExposed), probes.None[float64](probes.NotExposed)
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil && m.Total > 0 { // without /proc/meminfo it is all zeros
		s.MemoryTotalBytes = probes.Some(float64(m.Total))
		s.MemoryAvailableBytes = probes.Some(float64(m.Available))
	}
	s.SwapInTotal = swapIn(filepath.Join(h.root, "proc/vmstat"))
}

// kernel reads the load and pressure stall information.
func (h *Host) kernel(s *probes.Host) {
	fs, err := procfs.NewFS(filepath.Join(h.root, "proc"))
	if err != nil {
		return
	}
	if avg, err := fs.LoadAvg(); err == nil {
		s.Load1 = probes.Some(avg.Load1)
	} else {
		s.Load1 = probes.None[float64](why(err))
	}
	s.CPUPressure = pressure(fs.PSIStatsForResource("cpu"))
	s.MemoryPressure = pressure(fs.PSIStatsForResource("memory"))
	s.IOPressure = pressure(fs.PSIStatsForResource("io"))
}

// pressure converts pressure stall information (kernel documentation,
// accounting/psi): totals are in microseconds, averages in percent.
func pressure(stats procfs.PSIStats, err error) probes.Pressure {
	none := probes.None[float64](probes.NotExposed)
	if err != nil {
		none = probes.None[float64](why(err))
	}
	p := probes.Pressure{SomeSecondsTotal: none, FullSecondsTotal: none, SomeAvg10Ratio: none}
	if stats.Some != nil {
		p.SomeSecondsTotal = probes.Some(float64(stats.Some.Total) / 1e6)
		p.SomeAvg10Ratio = probes.Some(stats.Some.Avg10 / 100)
	}
	if stats.Full != nil {
		p.FullSecondsTotal = probes.Some(float64(stats.Full.Total) / 1e6)
	}
	return p
}

// why names the reason behind an error of a /proc or cgroup file.
func why(err error) probes.Absence {
	switch {
	case errors.Is(err, os.ErrPermission):
		return probes.NoPermission
	case errors.Is(err, os.ErrNotExist):
		return probes.NotExposed
	case errors.Is(err, syscall.ESRCH):
		return probes.Lost
	}
	return probes.Unsupported // e.g. EOPNOTSUPP of a kernel booted with psi=0
}
