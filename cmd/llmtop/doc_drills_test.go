package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/score"
)

// TestDrillDocsRun runs what docs/drills.md says to type, in order, in an empty folder with the drill
// that is to be saved there; screens, the real engine and whole suites are left out.
func TestDrillDocsRun(t *testing.T) {
	if raceEnabled {
		t.Skip("simulations of one goroutine each")
	}
	text := document(t, "docs/drills.md")
	dir := t.TempDir()
	link := programIn(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(block(t, text, "story: ", 0)), 0o644); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, args := range commandsIn(text) {
		line := strings.Join(args, " ")
		scored := strings.HasPrefix(line, "drill score") && slices.Contains(args, "--only")
		if !endsByItself(args) && !scored || slices.Contains(args, "cpu") {
			continue
		}
		ran++
		cmd := exec.Command(link, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if args[0] == "diagnose" && cmd.ProcessState.ExitCode() != exitUsage {
			err = nil // whatever the verdict
		}
		if err != nil || len(out) == 0 {
			t.Errorf("llmtop %s: %v\n%s", line, err, out)
		}
	}
	if ran < 6 {
		t.Errorf("only %d commands ran", ran)
	}
}

// TestScoreIsDocumented: docs/drills.md says of each number of a score what it is, and of each kind
// of drill what that is.
func TestScoreIsDocumented(t *testing.T) {
	text := document(t, "docs/drills.md")
	for _, of := range []reflect.Type{reflect.TypeFor[score.Metrics](), reflect.TypeFor[score.Judge]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name == "" || slices.Contains([]string{"judge", "naming_runs", "pair_runs"}, name) {
				continue // what is embedded, and what says itself what it is
			}
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("docs/drills.md does not say what %s is", name)
			}
		}
	}
	for _, word := range drill.Judges {
		if !strings.Contains(text, "| `"+word+"` |") {
			t.Errorf("docs/drills.md has no row for the judge %s", word)
		}
	}
	for _, kind := range drill.Kinds {
		if !strings.Contains(text, "`"+string(kind)+"`") {
			t.Errorf("docs/drills.md does not say what kind %s is", kind)
		}
	}
}

// TestScoreTableHasItsPlace: where rules/README.md has the table of the present book.
func TestScoreTableHasItsPlace(t *testing.T) {
	text := document(t, "rules/README.md")
	_, rest, begins := strings.Cut(text, "<!-- score -->")
	table, _, ends := strings.Cut(rest, "<!-- end -->")
	if !begins || !ends {
		t.Fatal("rules/README.md has no place for the table")
	}
	if strings.TrimSpace(table) == "" {
		t.Skip("no table yet")
	}
	for _, row := range []string{"suite test on engine twin", "\ntop1 ", "\nmacro F1 ", "\nfalse alarms/24 h ", "\nevidence truth ", "commit"} {
		if !strings.Contains(table, row) {
			t.Errorf("the table lacks %q", strings.TrimSpace(row))
		}
	}
}
