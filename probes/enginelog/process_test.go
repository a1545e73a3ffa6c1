//go:build unix

package enginelog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

// until reads a probe again and again until what it says is so; a test that waits for
// another process fails with the last that was read.
func until(t *testing.T, p *Probe, what string, so func(*probes.EngineLog, error) bool) {
	t.Helper()
	var s *probes.EngineLog
	var err error
	for range 3000 {
		var section probes.Section
		section, err = p.Read(t.Context())
		if s, _ = section.(*probes.EngineLog); so(s, err) {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("%s: never so; last %+v, %v", what, s, err)
}

func counts(n float64) func(*probes.EngineLog, error) bool {
	return func(s *probes.EngineLog, _ error) bool { return total(s, "kv-pool-full") == n }
}

func closing(t *testing.T, p *Probe) *Probe {
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestAShellWritesAndRotates: a real process appends to a log that is rotated under it, both
// ways, while it is read. Every line counts once.
func TestAShellWritesAndRotates(t *testing.T) {
	const each, rounds = 200, 6
	dir := t.TempDir()
	path := filepath.Join(dir, "engine.log")
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	p := closing(t, New(Source{Kind: file, Name: path}, Options{}))
	until(t, p, "attached", counts(0))
	script := fmt.Sprintf(`
set -e
n=1000
write() { i=0; while [ $i -lt %d ]; do n=$((n+1)); i=$((i+1)); echo "[2026-11-30 04:05:06 TP0] KV cache pool is full. Retract requests. #retracted_reqs: $n"; done >> engine.log; }
for round in 1 2 3 4 5 6; do
  write
  read go                                   # the test has seen them
  case $round in
    1|4) mv engine.log engine.log.$round; : > engine.log;;
    2|5) cp engine.log engine.log.$round; : > engine.log;;
    3)   mv engine.log engine.log.$round;;  # the next write makes a new one
  esac
done`, each)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	turn, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= rounds; round++ {
		until(t, p, fmt.Sprintf("round %d", round), counts(float64(round*each)))
		if _, err := fmt.Fprintln(turn, "go"); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	until(t, p, "the end", func(s *probes.EngineLog, err error) bool {
		return err == nil && s.Lines.Or(0) == rounds*each && s.Skipped.Or(-1) == 0 && s.Counts[0].Numbers[0].Value == 1000+rounds*each
	})
}

// program puts a shell script on the PATH under a name, in front of all others, and hides the others.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

// stays is the end of a script that goes on until it is killed, with a child of its own, and
// leaves its number in a file.
func stays(dir string) string {
	return fmt.Sprintf("echo $$ > %s/pid.new; /bin/mv %s/pid.new %s/pid\n/bin/sleep 600 & wait", dir, dir, dir)
}

func running(t *testing.T, dir string) (pid int, group func() bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	return pid, func() bool { return syscall.Kill(-pid, 0) == nil }
}

func gone(t *testing.T, group func() bool) {
	t.Helper()
	for range 3000 {
		if !group() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Error("the program is still there")
}

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LLMTOP_API_KEY", "My-Secret-Key")
	program(t, dir, "journalctl", fmt.Sprintf("echo \"$@\" > %s/args; /usr/bin/env > %s/env\nprintf '%%s' '%s'\necho 'No entries: %s' >&2\n%s", dir, dir, full+full+"x\n", "hint", stays(dir)))
	p := New(Source{Kind: journal, Name: "vllm@0.service"}, Options{})
	until(t, p, "both lines", counts(2))
	until(t, p, "the program runs", func(s *probes.EngineLog, err error) bool {
		_, missing := os.Stat(filepath.Join(dir, "pid"))
		return err == nil && missing == nil && s.Lines.Or(0) == 3 && s.Source == "journal:vllm@0.service"
	})
	if args, err := os.ReadFile(filepath.Join(dir, "args")); err != nil || string(args) != "--follow --output=cat --lines=0 --no-pager --unit=vllm@0.service --user-unit=vllm@0.service\n" {
		t.Errorf("called with %q, %v", args, err)
	}
	if env, err := os.ReadFile(filepath.Join(dir, "env")); err != nil || strings.Contains(string(env), "Secret") || !strings.Contains(string(env), "LC_ALL=C\n") {
		t.Errorf("its environment: %q, %v", env, err)
	}
	_, group := running(t, dir)
	if !group() {
		t.Error("the program is not there")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	gone(t, group)
}

// TestProgramsThatEnd: what a program says of itself is shown, lines of the log are not.
func TestProgramsThatEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		source Source
		tool   string
		script string
		want   string
	}{
		{"journalctl may not", Source{Kind: journal, Name: "vllm"}, "journalctl", "printf 'No journal files:\\n \\033[31mpermission denied.' >&2; exit 1", "journalctl: No journal files: [31mpermission denied."},
		{"journalctl says nothing", Source{Kind: journal, Name: "vllm"}, "journalctl", "exit 3", "journalctl: exit status 3"},
		{"journalctl may not see it", Source{Kind: journal, Name: "vllm"}, "journalctl", "echo 'Hint: You are currently not seeing messages from other users and the system.' >&2; /bin/sleep 600 & wait", "this user may not see the log: Hint: You are"},
		{"no journalctl", Source{Kind: journal, Name: "vllm"}, "other", "exit 1", "journalctl is not installed here; name a file: --log FILE"},
		{"no container", Source{Kind: docker, Name: "vllm"}, "docker", "echo 'Error: No such container: vllm' >&2; exit 1", "docker: Error: No such container: vllm"},
		{"no docker", Source{Kind: docker, Name: "vllm"}, "other", "exit 1", "neither docker nor podman is installed here"},
		{"podman has it not either", Source{Kind: docker, Name: "vllm"}, "podman", "exit 125", "podman: exit status 125"},
		{"the container ended", Source{Kind: docker, Name: "vllm"}, "docker", "[ $1 = container ] || echo 'Traceback: My-Secret-Prompt' >&2", "docker: the log ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program(t, t.TempDir(), c.tool, c.script)
			p := closing(t, New(c.source, Options{}))
			until(t, p, c.want, func(s *probes.EngineLog, err error) bool {
				if err != nil && strings.Contains(err.Error(), "Secret") {
					t.Fatal(err)
				}
				return s == nil && err != nil && strings.Contains(err.Error(), c.want)
			})
		})
	}
}

// TestDocker: both streams count, and a log that ends is gone on with from there.
func TestDocker(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "docker", fmt.Sprintf(`echo "$@" >> %[1]s/args
[ "$1" = container ] && { echo running; exit; }
printf '%%s' '%[2]s'; printf '%%s' '%[2]s' >&2
[ "$2 $3 $4" = "--follow --tail 0" ] && exit
%[3]s`, dir, full, stays(dir)))
	p := New(Source{Kind: docker, Name: "vllm-1"}, Options{})
	until(t, p, "two streams, twice", counts(4))
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	lines := strings.Split(strings.TrimSpace(string(args)), "\n")
	if err != nil || len(lines) != 4 || lines[0] != "container inspect --format {{.State.Status}} vllm-1" || lines[1] != "logs --follow --tail 0 vllm-1" ||
		!strings.HasPrefix(lines[3], "logs --follow --since ") || !strings.HasSuffix(lines[3], " vllm-1") {
		t.Errorf("called with %q, %v", lines, err)
	}
	until(t, p, "the program runs", func(*probes.EngineLog, error) bool { _, err := os.Stat(filepath.Join(dir, "pid")); return err == nil })
	_, group := running(t, dir)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	gone(t, group)
}
