package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree makes files below a new root; a text that begins with "-> " is a link.
func tree(t *testing.T, files map[string]string) place {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return place(root)
}

func TestLookAround(t *testing.T) {
	p := tree(t, map[string]string{
		"proc/driver/nvidia/version":                            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27\nGCC version: 13\n",
		"proc/driver/nvidia/params":                             "ResmanDebugLevel: 4294967295\nModifyDeviceFiles: 1\nRmProfilingAdminOnly: 1\n",
		"proc/self/status":                                      "Name:\tllmtop\nCapEff:\t0000000400080000\n",
		"proc/self/mounts":                                      "proc /proc proc rw,nosuid,hidepid=invisible 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
		"proc/self/maps":                                        "7f00-7f01 r-xp 00000000 00:1b 5 /usr/lib/libc.so.6\n",
		"usr/lib/libc.so.6":                                     "\x7fELF\x00GNU C Library (Debian GLIBC 2.36-9+deb12u9) stable release version 2.36.\nCopyright",
		"proc/self/ns/pid":                                      "-> pid:[4026532299]",
		"proc/self/ns/user":                                     "-> user:[4026531837]",
		"proc/self/ns/cgroup":                                   "-> cgroup:[4026531835]",
		"proc/self/schedstat":                                   "1 2 3\n",
		"proc/sys/kernel/perf_event_paranoid":                   "4\n",
		"sys/bus/pci/devices/0000:5e:00.0/class":                "0x030200\n",
		"sys/bus/pci/devices/0000:5e:00.0/vendor":               "0x10de\n",
		"sys/bus/pci/devices/0000:5e:00.0/power/runtime_status": "active\n",
		"sys/bus/pci/devices/0000:5f:00.0/class":                "0x020000\n",
		"sys/bus/pci/devices/0000:5f:00.0/vendor":               "0x10de\n",
		"sys/bus/pci/devices/0000:85:00.0/class":                "0x120000\n",
		"sys/bus/pci/devices/0000:85:00.0/vendor":               "0x1002\n",
		"dev/nvidia0":                                           "",
		"dev/nvidiactl":                                         "",
		"dev/nvidia-uvm":                                        "",
		".dockerenv":                                            "",
	})
	f := lookAround(string(p))
	for name, c := range map[string]struct{ got, want any }{
		"driver":       {f.Driver, "NVIDIA UNIX x86_64 Kernel Module 580.65.06 Sun Jul 27"},
		"libc":         {f.Libc, "glibc 2.36"},
		"mask":         {f.CapEff, "0000000400080000"},
		"capabilities": {f.Capabilities, []string{"CAP_SYS_PTRACE", "CAP_SYSLOG"}},
		"container":    {f.Container, []string{"/.dockerenv", "pid namespace"}},
		"pci":          {f.PCI, []string{"0000:5e:00.0 NVIDIA active", "0000:85:00.0 AMD"}},
		"settings": {f.Settings, []setting{{"perf_event_paranoid", "4"}, {"ptrace_scope", ""}, {"dmesg_restrict", ""}, {"hidepid", "invisible"},
			{"psi", "no"}, {"schedstat", "yes"}, {"cgroup", "v2"}, {"RmProfilingAdminOnly", "1"}, {"ModifyDeviceFiles", "1"}}},
		"user": {f.UID, os.Geteuid()},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	var files []string
	for _, d := range f.Devices {
		files = append(files, d.Path+" "+d.Mode+" "+d.May)
	}
	if got := strings.Join(files, ", "); got != "/dev/nvidiactl -rw-r--r-- rw, /dev/nvidia0 -rw-r--r-- rw, /dev/nvidia-uvm -rw-r--r-- rw" {
		t.Errorf("devices: %s", got)
	}
}

// A root without anything, as in a minimal container: everything is told as not there.
func TestLookAroundAnEmptyRoot(t *testing.T) {
	f := lookAround(t.TempDir())
	if f.Driver != "" || f.Libc != "none" || f.CapEff != "" || len(f.Capabilities)+len(f.Container)+len(f.PCI)+len(f.Devices) > 0 || f.set("hidepid") != "" || f.set("cgroup") != "none" {
		t.Errorf("got %+v", f)
	}
}

// Of the environment names are told, never values.
func TestLookAroundTellsNoValues(t *testing.T) {
	for name, value := range map[string]string{"LD_LIBRARY_PATH": "/hunter2", apiKeyVariable: "hunter2", "TERM": "xterm hunter2", "LC_ALL": "C.UTF-8"} {
		t.Setenv(name, value)
	}
	f := lookAround(t.TempDir())
	r := newDoctorReport(nil, f)
	var out strings.Builder
	if err := toJSON(&out, r); err != nil {
		t.Fatal(err)
	}
	if text := out.String() + r.text(); strings.Contains(text, "hunter2") || !strings.Contains(text, apiKeyVariable) || f.TERM != "(odd)" || f.LANG != "C.UTF-8" {
		t.Errorf("TERM %q, LANG %q in\n%s", f.TERM, f.LANG, text)
	}
}

// A file that never answers does not keep the rest from being told.
func TestLookAroundHangs(t *testing.T) {
	p := tree(t, map[string]string{"proc/driver/nvidia/params": ""})
	version := p.path("proc/driver/nvidia/version")
	if err := syscall.Mkfifo(version, 0o600); err != nil {
		t.Skip(err)
	}
	l := startToLook(string(p))
	if f, ok := l.frame(0); ok || f.Go == "" || f.Devices == nil || f.UID != os.Geteuid() {
		t.Errorf("%v, %+v", ok, f)
	}
	writer, err := os.OpenFile(version, os.O_WRONLY, 0) // it comes back after all
	if err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if f, ok := l.frame(time.Minute); !ok || f.Driver != "" {
		t.Errorf("%v, %+v", ok, f)
	}
}
