package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/judge"
	"llmtop/cmd/llmtop/internal/drill/score"
)

// TestJudges: processes of their own judge by the name of a recording; an error names it, and the judge
// goes on.
func TestJudges(t *testing.T) {
	j, err := startJudges(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.stop()
	if _, err := j.judge(t.Context(), "no-such.llmrec"); err == nil || !strings.Contains(err.Error(), "judging no-such.llmrec: ") {
		t.Fatalf("%v", err)
	}
}

// TestJudgeGoesOn: a recording that cannot be read is an error of that recording, not of the judge.
func TestJudgeGoesOn(t *testing.T) {
	j, err := startJudges(t.Context(), 1, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer j.stop()
	for range 2 {
		judged, err := j.judge(t.Context(), "../../testdata/recordings/queue-backlog.llmrec")
		if err != nil {
			t.Fatal(err)
		}
		if judged.Ticks < 10 || len(judged.Verdicts) != len(drill.Judges) || len(judged.Features) == 0 {
			t.Errorf("%d ticks, %d judges, %d features", judged.Ticks, len(judged.Verdicts), len(judged.Features))
		}
	}
	if len(j.idle) != 1 {
		t.Error("the judge is not there for the next")
	}
}

// TestJudgeThatDies: what it said last is the error, and nobody waits for ever.
func TestJudgeThatDies(t *testing.T) {
	j, err := startJudges(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.stop()
	j.all[0].cmd.Process.Kill()
	if _, err := j.judge(t.Context(), "1.llmrec"); err == nil || !strings.Contains(err.Error(), "the judge ended") {
		t.Errorf("%v", err)
	}
}

// TestSuiteEndsWithItsContext leaves no file behind.
func TestSuiteEndsWithItsContext(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	all, err := drill.Plan("ci", "twin")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said := &counter{out: &bytes.Buffer{}, what: "runs", all: len(all)}
	if _, err := runSuite(ctx, all, "", said, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSuiteSaysWhatWentWrong: a judge's error ends the suite and is its error.
func TestSuiteSaysWhatWentWrong(t *testing.T) {
	j, err := startJudges(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.stop()
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &suite{judges: j, fail: cancel, places: make(chan struct{}, 1), said: &counter{out: &bytes.Buffer{}, what: "runs", all: 1}}
	if err := s.take(ctx, drill.Truth{Drill: "power-cap"}, []drill.Recording{{Path: "no-such.llmrec"}}); err != nil {
		t.Fatal(err)
	}
	s.busy.Wait()
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "no-such.llmrec") {
		t.Errorf("%v", err)
	}
}

func TestCounter(t *testing.T) {
	var out bytes.Buffer
	c := &counter{out: &out, what: "runs", all: 25}
	for range 25 {
		c.one()
	}
	c.end()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 10 || lines[0] != "3 of 25 runs" || lines[9] != "25 of 25 runs" {
		t.Errorf("%q", lines)
	}
}

// TestLabelled: moments before the onset are healthy, those just after it are nothing, the rest the cause;
// runs that do not count teach nothing.
func TestLabelled(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) drill.Feature {
		return drill.Feature{At: start.Add(time.Duration(seconds) * time.Second)}
	}
	fault := drill.Truth{Drill: "x", Kind: drill.Fault, Expects: []string{"power-cap"}, Onset: start.Add(100 * time.Second)}
	control := drill.Truth{Drill: "c", Kind: drill.Healthy}
	weak := fault
	weak.Discard = "too weak"
	features := drill.Judged{Features: []drill.Feature{at(90), at(110), at(120)}}
	var got []string
	for _, l := range labelled([]score.Run{{Truth: fault, Judged: features}, {Truth: control, Judged: features}, {Truth: weak, Judged: features}}) {
		got = append(got, l.Class)
	}
	want := []string{judge.HealthyClass, "power-cap", judge.HealthyClass, judge.HealthyClass, judge.HealthyClass}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
}
