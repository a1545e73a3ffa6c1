package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"llmtop/probes"
)

// frameReport is what llmtop runs in: everything that decides what it may read. Of the
// environment it holds whether a variable is set, and what the terminal calls itself.
type frameReport struct {
	Go           string       `json:"go"`
	Kernel       string       `json:"kernel"`
	Libc         string       `json:"libc"` // "none": a static program
	Driver       string       `json:"driver,omitempty"`
	User         string       `json:"user"`
	UID          int          `json:"uid"`
	GIDs         []int        `json:"gids"`
	Capabilities []string     `json:"capabilities"` // of those that matter here
	CapEff       string       `json:"cap_eff"`
	Container    []string     `json:"container"` // signs of one; none: not in a container as far as can be seen
	PCI          []string     `json:"pci"`       // GPUs on the bus, driver or not
	Devices      []deviceFile `json:"devices"`   // /dev/nvidia*, /dev/kmsg …
	Settings     []setting    `json:"settings"`  // of kernel and driver, "" where there is no such
	EnvSet       []string     `json:"env_set"`   // variables that change what a program loads or sees, by name
	Terminal     string       `json:"terminal"`  // columns x lines, "" without one
	TERM         string       `json:"term"`
	LANG         string       `json:"lang"`
}

// deviceFile is a file and what this user may do with it.
type deviceFile struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`
	May  string `json:"may"` // "rw", "r", "w", or ""
}

type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// set returns the value of a setting, "" when it is not known.
func (f *frameReport) set(name string) string {
	for _, s := range f.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// may says what this user may do with a file, and whether it is there.
func (f *frameReport) may(path string) (may string, there bool) {
	for _, d := range f.Devices {
		if d.Path == path {
			return d.May, true
		}
	}
	return "", false
}

// looking is a look around that is out: a driver or a file system that hangs can hold up who
// reads its files too.
type looking chan frameReport

func startToLook(root string) looking {
	l := make(looking, 1)
	go func() { l <- lookAround(root) }()
	return l
}

// frame waits for it no longer than a while; without an answer it is what is known without
// looking.
func (l looking) frame(wait time.Duration) (f frameReport, ok bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case f = <-l:
		return f, true
	case <-timer.C:
		return frameReport{Go: runtime.Version(), Kernel: kernelRelease(), UID: os.Geteuid(), GIDs: []int{os.Getegid()}, Capabilities: []string{},
			Container: []string{}, PCI: []string{}, Devices: []deviceFile{}, Settings: []setting{}, EnvSet: []string{}}, false
	}
}

// lookAround looks at the system below root.
func lookAround(root string) frameReport {
	at := place(root)
	f := frameReport{
		Go: runtime.Version(), Kernel: kernelRelease(), Libc: at.libc(), Driver: at.driver(),
		User: userName(os.Geteuid()), UID: os.Geteuid(), GIDs: []int{os.Getegid()},
		CapEff: at.capEff(), Container: at.container(), PCI: at.pci(), Devices: at.devices(), Settings: at.settings(),
		EnvSet: []string{}, Terminal: terminalSize(), TERM: plainWord(os.Getenv("TERM")), LANG: plainWord(language()),
	}
	f.Capabilities = capabilities(f.CapEff)
	if groups, err := os.Getgroups(); err == nil {
		f.GIDs = append(f.GIDs, groups...)
		slices.Sort(f.GIDs)
		f.GIDs = slices.Compact(f.GIDs)
	}
	for _, name := range []string{"LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
		"KUBERNETES_SERVICE_HOST", "SSH_CONNECTION", apiKeyVariable} {
		if os.Getenv(name) != "" {
			f.EnvSet = append(f.EnvSet, name)
		}
	}
	return f
}

func language() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// plainWord is a name of a terminal or a language, and nothing that somebody hid there.
func plainWord(s string) string {
	if len(s) > 40 || !regexp.MustCompile(`^[A-Za-z0-9_.@+-]*$`).MatchString(s) {
		return "(odd)"
	}
	return s
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return probes.Printable(unix.ByteSliceToString(u.Sysname[:])+" "+unix.ByteSliceToString(u.Release[:])+" "+unix.ByteSliceToString(u.Machine[:]), 120)
}

func terminalSize() string {
	for _, f := range []*os.File{os.Stdout, os.Stderr, os.Stdin} {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			return strings.Join([]string{number(w), number(h)}, "x")
		}
	}
	return ""
}

// place is the root of a file system.
type place string

// smallFile bounds what is read of one; those here have a line or a few.
const smallFile = 256 << 10

// text is what a small file holds, "" when it cannot be read.
func (p place) text(path string) string {
	f, err := os.Open(p.path(path))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, smallFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (p place) path(path string) string { return filepath.Join(string(p), path) }

// there lists the files that a pattern names, without the root.
func (p place) there(pattern string, most int) (paths []string) {
	found, _ := filepath.Glob(p.path(pattern)) // only a bad pattern is an error
	for _, f := range found[:min(len(found), most)] {
		paths = append(paths, "/"+strings.TrimPrefix(strings.TrimPrefix(f, string(p)), "/"))
	}
	return paths
}
