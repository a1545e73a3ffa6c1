package amdgpu

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"llmtop/probes"
)

// maxFile bounds a file; those of sysfs are a page at most, gpu_metrics may become longer.
const maxFile = 64 << 10

// files reads below a folder.
type files struct {
	root string
	read func(path string) ([]byte, error)
}

func readFile(path string) ([]byte, error) { return probes.ReadKernelFile(path, nil, maxFile) }

// get reads a file.
func (f files) get(name string) ([]byte, error) { return f.read(filepath.Join(f.root, name)) }

// text is the first line of a file, "" where there is none.
func (f files) text(name string) string {
	b, err := f.get(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return probes.Printable(line, 200)
}

// property is a value of a file of KEY=value lines.
func (f files) property(name, key string) string {
	b, err := f.get(name)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if v, is := strings.CutPrefix(strings.TrimSpace(line), key+"="); is {
			return probes.Printable(v, 200)
		}
	}
	return ""
}

// number is a file that holds a number of that unit.
func (f files) number(name string, unit float64) probes.Opt[float64] {
	b, err := f.get(name)
	if err != nil {
		return probes.None[float64](why(err))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil { // "N/A" or worse
		return probes.None[float64](probes.NotSeen)
	}
	return probes.Some(v * unit)
}

// percent is a file that holds a percentage. More than 100 is no measurement; firmware that
// knows none has been seen to say 65535.
func (f files) percent(name string) probes.Opt[float64] {
	v := f.number(name, 0.01)
	if x, ok := v.Get(); ok && !(x >= 0 && x <= 1) {
		return probes.None[float64](probes.NotSeen)
	}
	return v
}

// why names the reason behind an error of a file. A card that is busy resetting, or whose
// firmware does not answer, may do so next time.
func why(err error) probes.Absence {
	switch {
	case errors.Is(err, os.ErrPermission):
		return probes.NoPermission
	case errors.Is(err, os.ErrNotExist):
		return probes.NotExposed
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return probes.Lost
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.Errno(524)): // ENOTSUPP, the kernel's own
		return probes.Unsupported
	}
	return probes.NotSeen
}
