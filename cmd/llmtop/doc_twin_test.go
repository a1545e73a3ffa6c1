package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is the n-th code block of a document that begins with a word.
func block(t *testing.T, text, begins string, n int) string {
	t.Helper()
	all := regexp.MustCompile("(?s)```\n("+begins+".*?)```").FindAllStringSubmatch(text, -1)
	if len(all) <= n {
		t.Fatalf("no block %d that begins with %q", n, begins)
	}
	return all[n][1]
}

// TestTwinDocsRun runs what docs/twin.md says to type, in order, in an empty folder with the
// scenario that is to be saved there; screens are left out. What a run is said to name it names.
func TestTwinDocsRun(t *testing.T) {
	text := document(t, "docs/twin.md")
	dir := t.TempDir()
	link := programIn(t, dir)
	mine := block(t, text, "gpu ", 0)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.scenario", mine)
	run := func(args ...string) (string, int) {
		cmd := exec.Command(link, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	named := map[string]string{"twin run mine.scenario -o mine.llmrec": "DEGRADED  power-cap (high)", "twin run kv-pool -o incident.llmrec": "DEGRADED  kv-preemption-storm (high)"}
	ran := 0
	for _, args := range commandsIn(text) {
		if !endsByItself(args) {
			continue
		}
		ran++
		line := strings.Join(args, " ")
		out, code := run(args...)
		if want := map[bool]int{true: exitDegraded}[args[0] == "diagnose"]; code != want {
			t.Errorf("llmtop %s: exit status %d, want %d\n%s", line, code, want, out)
		}
		if !strings.Contains(out, named[line]) {
			t.Errorf("llmtop %s: it does not name %s:\n%s", line, named[line], out)
		}
		delete(named, line)
	}
	if ran < 10 || len(named) > 0 {
		t.Errorf("%d commands ran, not these: %v", ran, named)
	}

	write("mine.scenario", strings.ReplaceAll(mine, "120W", "120"))
	out, code := run("twin", "check", "mine.scenario")
	said, _, _ := strings.Cut(strings.TrimPrefix(out, "llmtop: "), "\n")
	if code != exitUsage || !strings.Contains(text, "`"+said+"`") {
		t.Errorf("docs/twin.md does not have the error %q (exit status %d)", said, code)
	}
}

// TestTwinFlagsOfDocs: what documents give to serve --twin and demo --twin can be simulated.
func TestTwinFlagsOfDocs(t *testing.T) {
	seen := 0
	for _, name := range []string{"README.md", "docs/twin.md", "docs/twin-live.md"} {
		for _, args := range append(commandsIn(document(t, name)), commandsIn(packageComment(t))...) {
			if !slices.Contains(args, "--twin") {
				continue
			}
			seen++
			cmd, rest, err := newRoot().Find(args)
			if err != nil || cmd.ParseFlags(rest) != nil {
				continue // TestDocCommandsParse
			}
			f := twinFlags{}
			f.gpu, _ = cmd.Flags().GetString("twin")
			f.model, _ = cmd.Flags().GetString("twin-model")
			f.engine, _ = cmd.Flags().GetString("twin-engine")
			f.turns, _ = cmd.Flags().GetStringArray("twin-at")
			if _, err := f.scenario(cmd); err != nil {
				t.Errorf("%s: llmtop %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d commands", seen)
	}
}

// TestTwinLiveIsDocumented: docs/twin-live.md has a row for each flag of the twin.
func TestTwinLiveIsDocumented(t *testing.T) {
	text := document(t, "docs/twin-live.md")
	for _, name := range []string{"twin", "twin-model", "twin-tp", "twin-engine", "twin-seed", "twin-at"} {
		if newServeCommand().Flags().Lookup(name) == nil || !strings.Contains(text, "| `--"+name+" ") {
			t.Errorf("docs/twin-live.md has no row for --%s", name)
		}
	}
}
