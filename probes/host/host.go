// Package host reads the machine and the engine's process: in flow /proc, /sys and the
// cgroup files below a root that is a parameter, out flow *probes.Host, *probes.Process,
// *probes.Neighbours and *probes.Sockets sections with cumulative counters. A reading that
// the kernel does not offer, or not to this user, is an empty Opt with the reason.
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

	"llmtop/probes"
)

// slowly is how often that is read which changes slowly or is dear to read: what devices
// and mounts there are, NUMA nodes, how full file systems are. It is carried in between.
const slowly = 10 * time.Second

// Host reads the machine as a whole. It is a probes.Probe. Of the network it sees the
// namespace that llmtop runs in.
type Host struct {
	root    string
	engines func() []int
	buf     []byte
	next    time.Time // when what changes slowly is due

	kernel, hypervisor string
	cores              coreTimes
	numa               []probes.NUMANode
	filesystems        filesystems
	nics               nics
}

// NewHost returns a probe of the machine below root ("" or "/" for this one). engines
// names the processes of engines, of which the file systems are told that they work in;
// nil stands for none.
func NewHost(root string, engines func() []int) *Host {
	if engines == nil {
		engines = func() []int { return nil }
	}
	h := &Host{root: filepath.Clean("/" + root), engines: engines}
	h.wait(someWait)
	return h
}

// wait sets how long a read waits for what may never come.
func (h *Host) wait(d time.Duration) {
	h.filesystems.patience, h.nics.links.patience, h.nics.ports.patience = d, d, d
}

// Name is "host".
func (h *Host) Name() string { return "host" }

// Read reads the machine. What cannot be read is missing in the section; only a machine
// without a readable /proc/stat is an error.
func (h *Host) Read(ctx context.Context) (probes.Section, error) {
	now := time.Now()
	s := &probes.Host{At: probes.Stamp(now)}
	stat, err := h.file("proc/stat")
	if err == nil {
		err = h.cores.fill(stat, s)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the host's CPU times: %w", err)
	}
	if h.next.IsZero() {
		h.kernel, h.hypervisor = kernelRelease(h.root), hypervisor(h.root)
	}
	if !now.Before(h.next) {
		h.next = now.Add(slowly)
		h.numa = numaNodes(h.root)
		h.filesystems.find(h.root, h.engines())
	}
	s.Kernel, s.Virtual, s.NUMANodes = h.kernel, h.hypervisor, h.numa
	h.stalls(s)
	fillMemory(s, h.file)
	fillTCP(s, h.file)
	s.Disks = h.disks()
	s.Filesystems = h.filesystems.usage(ctx, now)
	s.NICs = h.nics.read(h.root, now, h.file)
	return s, nil
}

// file reads one of the machine's files, valid until the next.
func (h *Host) file(path string) ([]byte, error) {
	text, err := read(filepath.Join(h.root, path), h.buf)
	if cap(text) > cap(h.buf) {
		h.buf = text
	}
	return text, err
}

// stalls reads the load and pressure stall information.
func (h *Host) stalls(s *probes.Host) {
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

// why names the reason behind an error of a file of the kernel.
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
