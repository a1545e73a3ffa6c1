package host

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMachine(t *testing.T) {
	root := t.TempDir()
	put(t, root, "proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
	put(t, root, "etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"X OS 24.04\x1b[31m\"\n")
	put(t, root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nprocessor\t: 1\nmodel name\t: other\n")
	put(t, root, "proc/meminfo", "MemFree: 1 kB\nMemTotal:       2048 kB\n")
	if got, want := ReadMachine(root), (Machine{"6.8.0-45-generic", "X OS 24.04[31m", "AMD EPYC 9654", 2 << 20}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := ReadMachine(t.TempDir()); got != (Machine{}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := ReadMachine("/"); got.Kernel == "" || got.MemoryBytes == 0 {
		t.Errorf("this machine: %+v", got)
	}
}

func TestCommandLine(t *testing.T) {
	got, err := CommandLine("/", os.Getpid())
	if err != nil || !slices.Equal(got, os.Args) {
		t.Errorf("%q, %v; want %q", got, err, os.Args)
	}
	root := t.TempDir()
	put(t, root, "proc/1/cmdline", "")
	put(t, root, "proc/2/cmdline", strings.Repeat("a\x00", maxCommand))
	if _, err := CommandLine(root, 1); err == nil { // a thread of the kernel
		t.Error("an empty one is no error")
	}
	if got, err := CommandLine(root, 2); err != nil || len(got) != maxCommand/2 {
		t.Errorf("%d arguments of a long one, %v", len(got), err)
	}
	if _, err := CommandLine(root, 3); err == nil || !strings.Contains(err.Error(), "no such process") {
		t.Errorf("of none: %v", err)
	}
}
