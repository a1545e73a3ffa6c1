package probes

import "fmt"

// Event kinds about the host.
const (
	EventOOMKill    = "oom-kill"        // the kernel killed a process for want of memory
	EventFilesystem = "filesystem-full" // a file system that engines fill has less than 1 % left, or has room again
	EventLinkDown   = "network-link"    // an interface that was up is down, or up again
)

// fullFilesystem is the share of free bytes below which a file system is full.
const fullFilesystem = 0.01

// killed tells of processes that the kernel killed for want of memory. Those of the engine's
// own group are counted for the host, too: they are told once, as the engine's.
func (n *notes) killed(h *Host, p *Process) {
	if p != nil {
		if by, news := n.grew(fmt.Sprintf("%s process %d", EventOOMKill, p.PID), p.CgroupOOMKillsTotal); news {
			n.add(EventOOMKill, fmt.Sprintf("the kernel killed %s of the engine's group for want of memory", processes(by)))
			n.told(EventOOMKill, by)
		}
	}
	if h == nil {
		return
	}
	if by, news := n.grew(EventOOMKill, h.OOMKillsTotal); news {
		n.add(EventOOMKill, fmt.Sprintf("the kernel killed %s for want of memory", processes(by)))
	}
}

func processes(count float64) string {
	if count == 1 {
		return "a process"
	}
	return fmt.Sprintf("%.0f processes", count)
}

func (n *notes) host(h *Host) {
	for i := range h.Filesystems {
		f := &h.Filesystems[i]
		free, ok := f.FreeBytes.Get()
		total, ok2 := f.TotalBytes.Get()
		if ok && ok2 && total > 0 {
			n.is(EventFilesystem, fmt.Sprint(f.Engine, f.Mount), f.called(), "nearly full (less than 1 % free)", free < fullFilesystem*total)
		}
	}
	for i := range h.NICs {
		c := &h.NICs[i]
		if c.Kind == "virtual" {
			continue
		}
		if c.Up && len(n.up) < maxConditions {
			n.up[c.Name] = true
		}
		n.is(EventLinkDown, c.Name, "interface "+Printable(c.Name, 40), "down", !c.Up && n.up[c.Name])
	}
}

// called is what a file system is called: an engine in a container has its own "/" beside the
// host's.
func (f *Filesystem) called() string {
	switch {
	case f.Mount == "":
		return "the engine's file system"
	case f.Engine:
		return "file system " + Printable(f.Mount, 100) + " of the engine"
	}
	return "file system " + Printable(f.Mount, 100)
}
