package host

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCgroupDirs(t *testing.T) {
	for _, c := range []struct {
		name, membership string
		files            []string // what there is below sys/fs/cgroup, or where a path with proc/ says
		want             []string
	}{
		{"v2", "0::/a/b\n", nil, []string{"a/b", "a", "", "unified/a/b", "unified/a", "unified"}},
		{"v1 first", "0::/\n4:cpu:/x\n2:cpuset:/y\n", nil, []string{"cpu/x", "cpu", "", "unified"}},
		{"v1, named after all controllers", "3:cpu,cpuacct:/x\n", []string{"cpu,cpuacct/x/cpu.stat"}, []string{"cpu,cpuacct/x", "cpu,cpuacct"}},
		{"v1, named after the one", "3:cpu,cpuacct:/x\n", []string{"cpu/x/cpu.stat"}, []string{"cpu/x", "cpu"}},
		{"another container, from its own mount", "0::/../other\n", []string{"x", "proc/42/root/sys/fs/cgroup/cgroup.procs"}, []string{"/proc/42/root/sys/fs/cgroup"}},
		{"the host, from the mount", "0::/../../vllm.service\n", []string{"vllm.service/cgroup.procs", "proc/42/root/sys/fs/cgroup/x"}, []string{"vllm.service", ""}},
		{"not where it says", "0::/../other\n", []string{"other/cpu.stat"}, nil},
		{"not upwards out", "0::/../../etc\n", nil, nil},
		{"dots in a name", "0::/a..b/..c\n", nil, []string{"a..b/..c", "a..b", "", "unified/a..b/..c", "unified/a..b", "unified"}},
		{"nonsense", "hello\n1:2\n::\n5:../cpu:/\n", nil, []string{"", "unified"}},
	} {
		root := t.TempDir()
		for _, file := range c.files {
			if !strings.HasPrefix(file, "proc/") {
				file = "sys/fs/cgroup/" + file
			}
			put(t, root, file, "7\n42\n")
		}
		var got []string
		for _, dir := range (cgroups{root, 42, c.membership}).dirs("cpu") {
			dir, inside := strings.CutPrefix(dir, filepath.Join(root, "sys/fs/cgroup"))
			if dir = strings.TrimPrefix(dir, root); inside {
				dir = strings.TrimPrefix(dir, "/")
			}
			got = append(got, dir)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := upwards("/c", "/"+strings.Repeat("x/", 200)); len(got) != 32 {
		t.Errorf("%d directories", len(got))
	}
}

func TestGroupName(t *testing.T) {
	for _, c := range []struct{ membership, dir, want string }{
		{"0::/kubepods/pod7\n", "/sys/fs/cgroup/kubepods/pod7", "/kubepods/pod7"},
		{"0::/\n", "/sys/fs/cgroup", "/"},
		{"3:cpu,cpuacct:/docker/a\n", "/sys/fs/cgroup/cpu,cpuacct/docker/a", "/docker/a"},
		{"3:cpu,cpuacct:/cpus\n", "/sys/fs/cgroup/cpus", "/cpus"},
		{"3:cpu:/x\n0::/y\n", "/sys/fs/cgroup/unified/y", "/y"},
		{"0::/../a\n", "/proc/42/root/sys/fs/cgroup", "/"},
	} {
		if got := (cgroups{"/", 42, c.membership}).name(c.dir); got != c.want {
			t.Errorf("%s: got %s, want %s", c.dir, got, c.want)
		}
	}
}

func TestQuota(t *testing.T) {
	for text, want := range map[string]float64{"150000 100000": 1.5, "max 100000": 0, "-1 100000": 0, "5": 0, "1 0": 0, "": 0, "x y": 0} {
		var fields [][]byte
		for _, f := range strings.Fields(text) {
			fields = append(fields, []byte(f))
		}
		if got := quota(fields); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
