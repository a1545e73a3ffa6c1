package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"llmtop/probes"
)

// Process reads one process, the engine's. It is a probes.Probe.
//
// The kernel counts waiting and switches per thread and forgets threads that
// ended, so a plain sum over threads would fall. The probe adds up what each
// thread gained between two reads: its totals only grow.
type Process struct {
	root    string
	pid     func() int
	threads threads
	started time.Time // of the process threads.pid
	buf     []byte
}

// NewProcess returns a probe of the process that pid names at each read (0: not
// known yet), below root ("" or "/" for this machine).
func NewProcess(root string, pid func() int) *Process {
	return &Process{root: filepath.Clean("/" + root), pid: pid}
}

// Name is "process".
func (p *Process) Name() string { return "process" }

// Read reads the process. A pid that is not known, or of which there is no
// process, is an error.
func (p *Process) Read(ctx context.Context) (probes.Section, error) {
	pid := p.pid()
	if pid <= 0 {
		return nil, probes.Lacking(errors.New("the engine's process is not known")) // on another host, say
	}
	fs, err := procfs.NewFS(filepath.Join(p.root, "proc"))
	if err != nil {
		return nil, fmt.Errorf("reading process %d: %w", pid, err)
	}
	proc, err := fs.Proc(pid)
	if err != nil {
		return nil, fmt.Errorf("reading process %d: %w", pid, gone(err))
	}
	stat, err := proc.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading process %d: %w", pid, gone(err))
	}
	at := probes.Stamp(time.Now())
	s := &probes.Process{At: at, PID: pid, Name: probes.Printable(stat.Comm, 64)}
	s.CPUSecondsTotal = probes.Some(stat.CPUTime())
	s.RSSBytes = probes.Some(float64(stat.ResidentMemory()))
	s.Threads = probes.Some(float64(stat.NumThreads))
	s.MajorFaultsTotal = probes.Some(float64(stat.MajFlt))
	if p.threads.begin(pid, stat.Starttime) {
		p.started = startedAt(stat)
	}
	s.StartedAt = p.started
	p.buf = p.threads.read(p.dir(pid), p.buf)
	p.threads.fill(s)
	limits(p.root, pid, s)
	return s, nil
}

func (p *Process) dir(pid int) string {
	return filepath.Join(p.root, "proc", strconv.Itoa(pid), "task")
}

func startedAt(stat procfs.ProcStat) time.Time {
	seconds, err := stat.StartTime()
	if err != nil {
		return time.Time{}
	}
	return probes.Stamp(time.Unix(0, int64(seconds*1e9)))
}

// gone puts the usual reason into words.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("there is no such process any more")
	}
	return err
}
