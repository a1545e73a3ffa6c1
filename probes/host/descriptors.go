package host

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"llmtop/probes"
)

// procMagic is what the kernel calls its process file system.
const procMagic = 0x9fa0

// descriptors counts the files that a process has open. Since Linux 6.2 the directory's
// size is their number, which is cheap and which any user may see.
type descriptors struct {
	sized bool // the kernel tells their number so
	open  probes.Opt[float64]
}

// read counts them; rarely is for kernels where that takes a listing.
func (d *descriptors) read(dir string, rarely bool) {
	if rarely {
		var fs syscall.Statfs_t
		d.sized = syscall.Statfs(dir, &fs) == nil && fs.Type == procMagic
	}
	var at syscall.Stat_t
	switch {
	case d.sized && syscall.Stat(dir+"/fd", &at) == nil && at.Size > 0:
		d.open = probes.Some(float64(at.Size))
	case rarely:
		d.open = listed(dir)
	}
}

// listed counts them one by one, up to maxFDs.
func listed(dir string) probes.Opt[float64] {
	d, err := os.Open(dir + "/fd")
	if err != nil {
		return probes.None[float64](why(err))
	}
	defer d.Close()
	n := 0
	for n < maxFDs {
		names, err := d.Readdirnames(1024)
		n += len(names)
		if err != nil || len(names) == 0 {
			break
		}
	}
	return probes.Some(float64(n))
}

// descriptorsLimit is how many it may open: the soft limit.
func descriptorsLimit(r *reader, dir string) probes.Opt[float64] {
	text, err := r.whole(dir + "/limits")
	if err != nil {
		return probes.None[float64](why(err))
	}
	_, rest, found := bytes.Cut(text, []byte("\nMax open files"))
	words := bytes.Fields(rest[:min(len(rest), 80)])
	if !found || len(words) == 0 {
		return probes.None[float64](probes.NotExposed)
	}
	n, err := strconv.ParseFloat(string(words[0]), 64)
	if err != nil { // "unlimited"
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(n)
}
