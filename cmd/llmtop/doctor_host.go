package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"llmtop/probes"
)

// driver is the version of NVIDIA's kernel module, which need not be the library's.
func (p place) driver() string {
	line, _, _ := strings.Cut(p.text("proc/driver/nvidia/version"), "\n")
	return probes.Printable(strings.TrimPrefix(line, "NVRM version: "), 120)
}

// libc is the C library that this program runs with, in its own words. NVML needs glibc.
func (p place) libc() string {
	maps := p.text("proc/self/maps")
	path := regexp.MustCompile(`/\S*/(?:libc[.-]\S*|ld-musl-\S*)`).FindString(maps)
	if path == "" {
		return "none"
	}
	f, err := os.Open(p.path(path))
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	const most = 8 << 20
	b, _ := io.ReadAll(io.LimitReader(f, most)) // what was read is looked at
	m := regexp.MustCompile(`GNU C Library [^\n\x00]{0,80}version ([0-9.]*[0-9])`).FindSubmatch(b)
	switch {
	case m != nil:
		return "glibc " + string(m[1])
	case strings.Contains(path, "musl") || bytes.Contains(b, []byte("musl libc")):
		return "musl"
	}
	return "unknown"
}

// capEff is the mask of this process's capabilities, as the kernel writes it.
func (p place) capEff() string {
	m := regexp.MustCompile(`(?m)^CapEff:\s*([0-9a-f]{1,16})$`).FindStringSubmatch(p.text("proc/self/status"))
	if m == nil {
		return ""
	}
	return m[1]
}

// capabilities names those of a mask that decide what llmtop may read (capabilities(7)).
func capabilities(mask string) []string {
	names := []string{}
	bits, err := strconv.ParseUint(mask, 16, 64)
	if err != nil {
		return names
	}
	for _, c := range []struct {
		bit  int
		name string
	}{{2, "CAP_DAC_READ_SEARCH"}, {12, "CAP_NET_ADMIN"}, {19, "CAP_SYS_PTRACE"}, {21, "CAP_SYS_ADMIN"}, {34, "CAP_SYSLOG"}, {38, "CAP_PERFMON"}} {
		if bits>>c.bit&1 != 0 {
			names = append(names, c.name)
		}
	}
	return names
}

// container lists what speaks for being in a container. The namespaces are the host's own
// when they have these inodes (linux/proc_ns.h).
func (p place) container() []string {
	signs := []string{}
	for _, path := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(p.path(path)); err == nil {
			signs = append(signs, path)
		}
	}
	for _, host := range []string{"cgroup:[4026531835]", "pid:[4026531836]", "user:[4026531837]"} {
		kind, _, _ := strings.Cut(host, ":")
		if ns, err := os.Readlink(p.path("proc/self/ns/" + kind)); err == nil && ns != host {
			signs = append(signs, kind+" namespace")
		}
	}
	return signs
}

// pci lists the devices that a GPU's driver could serve: display and 3D controllers and
// accelerators of NVIDIA and AMD.
func (p place) pci() []string {
	gpus := []string{}
	makers := map[string]string{"0x10de": "NVIDIA", "0x1002": "AMD"}
	for _, dir := range p.there("sys/bus/pci/devices/*", 4096) {
		class := p.text(dir + "/class")
		maker := makers[p.text(dir+"/vendor")]
		if maker == "" || !strings.HasPrefix(class, "0x03") && !strings.HasPrefix(class, "0x12") {
			continue
		}
		power := p.text(dir + "/power/runtime_status")
		gpus = append(gpus, strings.TrimSpace(fmt.Sprintf("%s %s %s", dir[strings.LastIndex(dir, "/")+1:], maker, probes.Printable(power, 20))))
	}
	return gpus[:min(len(gpus), 64)]
}

// devices says what this user may do with the files through which GPUs and the kernel's
// messages are reached.
func (p place) devices() []deviceFile {
	list := []deviceFile{}
	for _, pattern := range []string{"dev/nvidiactl", "dev/nvidia[0-9]*", "dev/nvidia-uvm", "dev/nvidia-caps/*", "dev/kfd", "dev/dri/renderD*", "dev/kmsg"} {
		for _, path := range p.there(pattern, 64) {
			info, err := os.Stat(p.path(path))
			if err != nil {
				continue
			}
			d := deviceFile{Path: path, Mode: info.Mode().Perm().String(), UID: -1, GID: -1}
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				d.UID, d.GID = int(s.Uid), int(s.Gid)
			}
			d.May = mayUse(p.path(path))
			if path == "/dev/kmsg" { // its mode does not tell: dmesg_restrict does
				d.May = mayOpen(p.path(path))
			}
			list = append(list, d)
		}
	}
	return list
}

// mayUse asks the kernel for this user's rights.
func mayUse(path string) (may string) {
	if unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) == nil {
		may = "r"
	}
	if unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil {
		may += "w"
	}
	return may
}

// mayOpen tries to open for reading.
func mayOpen(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	unix.Close(fd)
	return "r"
}

// settings are those of kernel and driver that decide what is readable.
func (p place) settings() []setting {
	list := []setting{}
	for _, s := range []struct{ name, file string }{
		{"perf_event_paranoid", "proc/sys/kernel/perf_event_paranoid"},
		{"ptrace_scope", "proc/sys/kernel/yama/ptrace_scope"},
		{"dmesg_restrict", "proc/sys/kernel/dmesg_restrict"},
	} {
		list = append(list, setting{s.name, probes.Printable(p.text(s.file), 20)})
	}
	list = append(list, setting{"hidepid", p.hidepid()}, setting{"psi", present(p.text("proc/pressure/cpu"))},
		setting{"schedstat", present(p.text("proc/self/schedstat"))}, setting{"cgroup", p.cgroup()})
	params := p.text("proc/driver/nvidia/params")
	for _, name := range []string{"RmProfilingAdminOnly", "ModifyDeviceFiles"} {
		if m := regexp.MustCompile(`(?m)^` + name + `:\s*(\S{1,20})$`).FindStringSubmatch(params); m != nil {
			list = append(list, setting{name, probes.Printable(m[1], 20)})
		}
	}
	return list
}

func present(text string) string {
	if text == "" {
		return "no"
	}
	return "yes"
}

// hidepid is the option of that name with which /proc is mounted, "0" without it.
func (p place) hidepid() string {
	for line := range strings.Lines(p.text("proc/self/mounts")) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[1] != "/proc" || fields[2] != "proc" {
			continue
		}
		for option := range strings.SplitSeq(fields[3], ",") {
			if value, ok := strings.CutPrefix(option, "hidepid="); ok {
				return probes.Printable(value, 20)
			}
		}
		return "0"
	}
	return ""
}

// cgroup is which versions of control groups are mounted.
func (p place) cgroup() string {
	mounts := p.text("proc/self/mounts")
	v1, v2 := strings.Contains(mounts, " cgroup "), strings.Contains(mounts, " cgroup2 ")
	switch {
	case v1 && v2:
		return "v1+v2"
	case v1:
		return "v1"
	case v2:
		return "v2"
	}
	return "none"
}
