package enginelog

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

const container = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// tree makes a fixture of a machine: name → content, or "→ target" for a link.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		put(t, filepath.Join(root, name), content)
	}
	return root
}

func put(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if target, link := strings.CutPrefix(content, "→ "); err == nil && link {
		err = os.Symlink(target, path)
	} else if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFindingALog(t *testing.T) {
	service := "0::/system.slice/vllm.service\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // sources, or a part of the error
	}{
		{"standard output", map[string]string{"proc/7/fd/1": "→ /no/such/vllm.log", "proc/7/fd/2": "→ /dev/null", "no/such/vllm.log": ""}, "file:ROOT/no/such/vllm.log"},
		{"both in one file", map[string]string{"proc/7/fd/1": "→ /no/such/a.log", "proc/7/fd/2": "→ /no/such/a.log", "no/such/a.log": ""}, "file:ROOT/no/such/a.log"},
		{"two files", map[string]string{"proc/7/fd/1": "→ /no/such/a.log", "proc/7/fd/2": "→ /no/such/b.log", "no/such/a.log": "", "no/such/b.log": ""}, "file:ROOT/no/such/a.log file:ROOT/no/such/b.log"},
		{"in the process's own root", map[string]string{"proc/7/fd/1": "→ /no/such/a.log", "proc/7/fd/2": "→ pipe:[5]", "proc/7/root/no/such/a.log": ""}, "file:ROOT/proc/7/root/no/such/a.log"},
		{"a unit", map[string]string{"proc/7/fd/1": "→ socket:[5]", "proc/7/fd/2": "→ socket:[5]", "proc/7/cgroup": service}, "journal:vllm.service"},
		{"a unit, its files unseen", map[string]string{"proc/7/cgroup": service}, "journal:vllm.service"},
		{"a user's unit", map[string]string{"proc/7/fd/1": "→ socket:[5]", "proc/7/cgroup": "0::/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service\n"}, "journal:vllm.service"},
		{"cgroup 1", map[string]string{"proc/7/fd/1": "→ socket:[5]", "proc/7/cgroup": "12:cpu,cpuacct:/\n1:name=systemd:/system.slice/vllm@0.service\n"}, "journal:vllm@0.service"},
		{"docker, cgroup 2", map[string]string{"proc/7/fd/1": "→ pipe:[5]", "proc/7/cgroup": "0::/system.slice/docker-" + container + ".scope\n"}, "docker:" + container},
		{"docker, cgroup 1", map[string]string{"proc/7/fd/1": "→ pipe:[5]", "proc/7/cgroup": "4:memory:/docker/" + container + "\n"}, "docker:" + container},
		{"podman", map[string]string{"proc/7/fd/1": "→ pipe:[5]", "proc/7/cgroup": "0::/machine.slice/libpod-" + container + ".scope/container\n"}, "docker:" + container},
		{"a Kubernetes node", map[string]string{"proc/7/fd/1": "→ pipe:[5]", "proc/7/cgroup": "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + container + ".scope\n",
			"var/log/containers/vllm-0_default_vllm-" + container + ".log": ""}, "file:ROOT/var/log/containers/vllm-0_default_vllm-" + container + ".log"},
		{"from a terminal", map[string]string{"proc/7/fd/1": "→ /dev/pts/3", "proc/7/fd/2": "→ /dev/pts/3", "proc/7/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n"},
			"standard output is a terminal, standard error is a terminal, and it runs in no container and no service; name it: --log FILE, --log journal:UNIT or --log docker:ID"},
		{"into a program", map[string]string{"proc/7/fd/1": "→ pipe:[5]", "proc/7/fd/2": "→ /dev/null", "proc/7/cgroup": service}, "standard output is a pipe, standard error is thrown away, not to the journal of vllm.service"},
		{"a user's manager is no unit", map[string]string{"proc/7/cgroup": "0::/user.slice/user-1000.slice/user@1000.service\n"}, "no container and no service"},
		{"a file that was removed", map[string]string{"proc/7/fd/1": "→ /no/such/a.log (deleted)", "proc/7/fd/2": "→ pipe:[5]"}, "a file that is not there"},
		{"hostile", map[string]string{"proc/7/fd/1": "→ socket:[5]", "proc/7/cgroup": "0::/a/--output=x.service\n0::\n::::\n0::/docker/" + container[:63] + "\n"}, "no container and no service"},
		{"no such process", nil, "not to be seen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files)
			sources, err := newFinder(Options{Root: root}, newSink(newMatcher(nil), "")).find(7)
			var got []string
			for _, s := range sources {
				got = append(got, s.String())
			}
			text := strings.Join(got, " ")
			if err != nil {
				text = err.Error()
			}
			if want := strings.ReplaceAll(c.want, "ROOT", root); text != want && (err == nil || !strings.Contains(text, want)) {
				t.Errorf("got %q, want %q", text, want)
			}
		})
	}
}

// TestFindingTheLogOfThisProcess looks at a real descriptor, whose file has been renamed since.
func TestFindingTheLogOfThisProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc here")
	}
	found := newFinder(Options{Root: "/"}, newSink(newMatcher(nil), ""))
	link := filepath.Join("/proc/self/fd", fd(f))
	if got, what := found.named("/proc/self", link, path); got != path {
		t.Errorf("got %q (%s), want %s", got, what, path)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // another file
		t.Fatal(err)
	}
	if got, what := found.named("/proc/self", link, path); got != link {
		t.Errorf("another file is at the path: got %q (%s), want %s", got, what, link)
	}
}

// TestAutoFollowsTheProcess: from none over one to another with a log of its own.
func TestAutoFollowsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := tree(t, map[string]string{"proc/7/fd/1": "→ /no/such/a.log", "proc/7/fd/2": "→ /no/such/a.log", "no/such/a.log": full,
			"proc/8/fd/1": "→ pipe:[1]", "proc/8/fd/2": "→ pipe:[1]",
			"proc/9/fd/1": "→ /no/such/b.log", "proc/9/fd/2": "→ /no/such/b.log", "no/such/b.log": full})
		var pid atomic.Int32
		p := New(Source{Kind: auto}, Options{Root: root, PID: func() int { return int(pid.Load()) }})
		defer p.Close()
		l := logs{t, filepath.Join(root, "no/such/a.log")}
		look := func() (*probes.EngineLog, error) {
			section, err := p.Read(t.Context())
			<-time.After(2 * lookEvery)
			synctest.Wait()
			section, err = p.Read(t.Context())
			s, _ := section.(*probes.EngineLog)
			return s, err
		}
		if s, err := look(); s != nil || err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("no process: %+v, %v", s, err)
		}
		pid.Store(7)
		if s := l.want(look, "the process is there", 0); s == nil || s.Source != "file:"+l.path {
			t.Errorf("%+v", s)
		}
		l.write(l.path, full)
		l.want(look, "it writes", 1)
		pid.Store(0)
		l.write(l.path, full)
		l.want(look, "its last words", 2)
		pid.Store(8)
		if s, err := look(); s != nil || err == nil || !strings.Contains(err.Error(), "standard output is a pipe") {
			t.Errorf("a process without a log: %+v, %v", s, err)
		}
		pid.Store(9)
		if s := l.want(look, "another process, another log", 1); s.Source != "file:"+filepath.Join(root, "no/such/b.log") {
			t.Errorf("%+v", s)
		}
	})
}

func fd(f *os.File) string { return strconv.Itoa(int(f.Fd())) }
