package inject

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files below a directory.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindGroup(t *testing.T) {
	for _, c := range []struct {
		name         string
		files        map[string]string
		home, parent string // below sys/fs/cgroup; no parent: there is none
	}{
		{"version 1", map[string]string{
			"proc/7/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/a/b\n0::/\n", "sys/fs/cgroup/cpu,cpuacct/a/b/cgroup.procs": "7\n",
		}, "cpu,cpuacct/a/b", "cpu,cpuacct/a/b"},
		{"version 1 mounted by its own name", map[string]string{
			"proc/7/cgroup": "2:cpu,cpuacct:/a\n", "sys/fs/cgroup/cpu/a/cgroup.procs": "7\n",
		}, "cpu/a", "cpu/a"},
		{"version 2, enabled two levels up", map[string]string{
			"proc/7/cgroup": "0::/a/b/c\n", "sys/fs/cgroup/cgroup.subtree_control": "cpu io\n", "sys/fs/cgroup/a/cgroup.subtree_control": "memory cpu\n",
			"sys/fs/cgroup/a/b/cgroup.subtree_control": "\n", "sys/fs/cgroup/a/b/c/cgroup.subtree_control": "memory\n",
		}, "a/b/c", "a"},
		{"version 2 beside 1", map[string]string{
			"proc/7/cgroup": "4:memory:/x\n0::/a\n", "sys/fs/cgroup/unified/cgroup.subtree_control": "cpu\n", "sys/fs/cgroup/unified/a/cgroup.procs": "7\n",
		}, "unified/a", "unified"},
		{"nowhere", map[string]string{"proc/7/cgroup": "0::/a\n", "sys/fs/cgroup/cgroup.subtree_control": "memory\n"}, "", ""},
		{"no such process", map[string]string{"proc/8/cgroup": "0::/a\n"}, "", ""},
	} {
		root := tree(t, c.files)
		g := &group{pid: 7}
		parent, err := g.find(root, "cpu")
		if c.parent == "" {
			if lacks := Lacking(""); !errors.As(err, &lacks) {
				t.Errorf("%s: %v, want what is lacking", c.name, err)
			}
			continue
		}
		mount := filepath.Join(root, "sys/fs/cgroup")
		if err != nil || parent != filepath.Join(mount, c.parent) || g.home != filepath.Join(mount, c.home) {
			t.Errorf("%s: in %s, home %s, %v", c.name, parent, g.home, err)
		}
	}
}

// TestSweepGroups leaves the groups of those that live.
func TestSweepGroups(t *testing.T) {
	stat := func(pid, start int) string {
		return fmt.Sprintf("%d (a (b) c) S%s %d 0 0\n", pid, strings.Repeat(" 0", 18), start)
	}
	root := tree(t, map[string]string{"proc/5/stat": stat(5, 77), "proc/6/stat": stat(6, 99)})
	parent := t.TempDir()
	for _, name := range []string{"llmtop-run-5-77-cpu", "llmtop-run-6-77-cpu", "llmtop-run-9-77-cpu", "llmtop-run-x", "other"} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweepGroups(root, parent)
	left, _ := filepath.Glob(parent + "/*")
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if got := strings.Join(left, " "); got != "llmtop-run-5-77-cpu llmtop-run-x other" {
		t.Errorf("left are %s", got)
	}
}

func TestWholeDisk(t *testing.T) {
	root := tree(t, map[string]string{
		"sys/devices/sda/dev": "8:0\n", "sys/devices/sda/sda1/partition": "1\n", "sys/devices/sda/sda1/dev": "8:1\n", "sys/dev/block/x": "",
	})
	for number, dir := range map[string]string{"8:0": "sda", "8:1": "sda/sda1"} {
		if err := os.Symlink("../../devices/"+dir, filepath.Join(root, "sys/dev/block", number)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		major, minor uint32
		want         string
	}{{8, 0, "8:0"}, {8, 1, "8:0"}, {0, 45, ""}, {9, 9, ""}} {
		got, err := wholeDisk(root, c.major, c.minor)
		if lacks := Lacking(""); got != c.want || errors.As(err, &lacks) != (c.want == "") {
			t.Errorf("%d:%d is on %q, %v, want %q", c.major, c.minor, got, err, c.want)
		}
	}
}

// TestSqueeze ends with room for all there is.
func TestSqueeze(t *testing.T) {
	dir := tree(t, map[string]string{"memory.current": "50000000\n", "memory.stat": "anon 48000000\nfile 1500000\n", "memory.high": "max\n"})
	m := &tightMemory{weights: weights{size: 1000000}, group: &group{dir: dir, v2: true}}
	if err := m.squeeze(); err != nil {
		t.Fatal(err)
	}
	if got := m.group.read("memory.high", ""); got != 51000000+slack {
		t.Errorf("the limit is %.0f at the end", got)
	}
	m.group.dir = filepath.Join(dir, "gone")
	if m.squeeze() == nil {
		t.Error("no error of a limit that cannot be raised")
	}
}

func TestBytesRead(t *testing.T) {
	for file, text := range map[string]string{
		"blkio.throttle.io_service_bytes": "8:0 Read 4096\n8:0 Write 100\n8:16 Read 4\nTotal 4200\n",
		"io.stat":                         "8:0 rbytes=4096 wbytes=100 rios=1\n8:16 rbytes=4 wbytes=0\n",
	} {
		g := &group{dir: tree(t, map[string]string{file: text}), v2: file == "io.stat"}
		if got := g.bytesRead(); got != 4100 {
			t.Errorf("%s: %.0f bytes, want 4100", file, got)
		}
	}
}
