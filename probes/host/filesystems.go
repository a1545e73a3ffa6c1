package host

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shirou/gopsutil/v3/disk"

	"llmtop/probes"
)

const (
	maxFilesystems = 8
	maxEngines     = 16 // whose working directories are looked at
)

// filesystems knows how full those file systems are that engines fill. Each is asked on a
// goroutine of its own: that of a file server that is gone never answers.
type filesystems struct {
	patience time.Duration
	list     []filesystem
	asked    map[string]*aside[probes.Filesystem] // by the kernel's device number
}

// filesystem is one of them.
type filesystem struct {
	device string
	mount  string
	path   string // at which it is asked; "" when this user may not see it
	engine bool
}

// find looks which file systems there are: the host's, and what the engines have in place
// of them. The working directory of another user's process is not to be seen; then only
// that is told.
func (f *filesystems) find(root string, engines []int) {
	f.list = nil
	seen := map[string]bool{}
	add := func(m mounted, path string, engine bool) {
		if m.device == "" || seen[m.device] || len(f.list) >= maxFilesystems {
			return
		}
		seen[m.device] = true
		f.list = append(f.list, filesystem{m.device, probes.Printable(m.point, 200), filepath.Join(path, m.point), engine})
	}
	for _, m := range mountsOf(filepath.Join(root, "proc/self/mountinfo"), []string{"/", "/tmp", "/dev/shm"}) {
		add(m, root, false)
	}
	hidden := false
	for _, pid := range engines[:min(len(engines), maxEngines)] {
		dir := filepath.Join(root, "proc", strconv.Itoa(pid))
		paths := []string{"/tmp", "/dev/shm"}
		work, err := os.Readlink(dir + "/cwd")
		if err == nil {
			paths = append(paths, work)
		}
		hidden = hidden || os.IsPermission(err)
		for _, m := range mountsOf(dir+"/mountinfo", paths) {
			add(m, dir+"/root", true)
		}
	}
	if hidden && len(f.list) < maxFilesystems {
		f.list = append(f.list, filesystem{engine: true})
	}
}

// usage is how full they are.
func (f *filesystems) usage(ctx context.Context, now time.Time) []probes.Filesystem {
	asked := make(map[string]*aside[probes.Filesystem], len(f.list))
	out := make([]probes.Filesystem, 0, len(f.list))
	for _, fs := range f.list {
		if fs.path == "" {
			out = append(out, unknown(fs, probes.NoPermission))
			continue
		}
		a := f.asked[fs.device]
		if a == nil {
			a = &aside[probes.Filesystem]{patience: f.patience}
		}
		asked[fs.device] = a
		used, ok := a.every(slowly, now, func() probes.Filesystem { return usageOf(ctx, fs) })
		if !ok {
			used = unknown(fs, probes.Stale)
		}
		out = append(out, used)
	}
	for device, a := range f.asked { // one that hangs is not asked anew when an engine comes back to it
		if a.hangs() {
			asked[device] = a
		}
	}
	f.asked = asked
	return out
}

func unknown(fs filesystem, why probes.Absence) probes.Filesystem {
	none := probes.None[float64](why)
	return probes.Filesystem{Mount: fs.mount, Engine: fs.engine, TotalBytes: none, FreeBytes: none}
}

// usageOf asks a file system. One without blocks, as those of the kernel's own are, is
// never full.
func usageOf(ctx context.Context, fs filesystem) probes.Filesystem {
	used, err := disk.UsageWithContext(ctx, fs.path)
	switch {
	case err != nil:
		return unknown(fs, why(err))
	case used.Total == 0:
		return unknown(fs, probes.NotExposed)
	}
	out := probes.Filesystem{Mount: fs.mount, Engine: fs.engine}
	out.TotalBytes, out.FreeBytes = probes.Some(float64(used.Total)), probes.Some(float64(used.Free))
	return out
}
