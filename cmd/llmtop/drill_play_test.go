package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/panes"
	"llmtop/rules"
)

// foldedRecording are the ticks of a recording that comes along.
func foldedRecording(t *testing.T, name string) []*rules.Tick {
	t.Helper()
	reader, err := openRecording("../../testdata/recordings/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	line, err := newRecorded(reader)
	if err != nil {
		t.Fatal(err)
	}
	ticks, err := line.upTo(line.last())
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

// TestHiddenScreen: no screen of any size has a word of what the diagnosis found.
func TestHiddenScreen(t *testing.T) {
	ticks := foldedRecording(t, "queue-backlog.llmrec")
	hide := hideVerdict(ticks[len(ticks)-1].Point.At)
	var hidden []*rules.Tick
	secrets := []string{"DEGRADED", "HEALTHY", "UNMEASURABLE", "of the added"}
	named := false
	for _, tick := range ticks {
		hidden = append(hidden, hide(tick))
		for _, c := range tick.Diagnosis.Causes {
			named = true
			if !slices.Contains(secrets, c.ID) {
				secrets = append(secrets, c.ID, c.Title)
			}
		}
		for _, f := range slices.Concat(tick.Diagnosis.Risks, tick.Diagnosis.Notes) {
			secrets = append(secrets, f.Text)
		}
	}
	if !named {
		t.Fatal("the recording has no cause that could be hidden")
	}
	for _, size := range [][2]int{{40, 12}, {80, 24}, {160, 48}} {
		for n := 1; n <= len(hidden); n += max(1, len(hidden)/20) {
			text := panes.Plain(panes.Frame{Ticks: hidden[:n]}, size[0], size[1])
			if !strings.Contains(text, "HIDDEN") {
				t.Fatalf("%v: no HIDDEN in\n%s", size, text)
			}
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Fatalf("%v: %q in\n%s", size, secret, text)
				}
			}
		}
	}
	if last := ticks[len(ticks)-1].Diagnosis; len(last.Baseline) == 0 || last.State == hiddenState {
		t.Error("the tick itself was changed")
	}
	if text := panes.Plain(panes.Frame{Ticks: hidden}, 160, 48); !strings.Contains(text, "the drill is over") {
		t.Errorf("the last picture does not say that it is the last:\n%s", text)
	}
}

// TestPaced: what lies before the beginning comes at once, the rest as fast as time passes.
func TestPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, err := openRecording("../../testdata/recordings/queue-backlog.llmrec")
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		from, end := reader.Info().Start, reader.Info().End
		source := &paced{reader: reader, begin: from.Add(end.Sub(from) / 2)}
		begun := time.Now()
		for {
			sample, err := source.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			want := max(0, sample.At.Sub(source.begin))
			if got := time.Since(begun); got != want {
				t.Fatalf("the sample of %s came after %s, want %s", sample.At, got, want)
			}
		}
		if time.Since(begun) < end.Sub(from)/3 {
			t.Error("it did not take its time")
		}
		source.reader.Seek(reader.Len() - 1)
		source.begun = time.Now().Add(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := source.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context ended and it said %v", err)
		}
	})
}

func TestMatching(t *testing.T) {
	ids := []string{"kv-limited-queueing", "kv-preemption-storm", "power-brake", "power-cap", "queue-backlog"}
	for text, want := range map[string]string{
		"power-cap": "power-cap", "4": "power-cap", "0": "", "6": "", "power": "power-brake power-cap", "storm": "kv-preemption-storm",
		"queue": "queue-backlog", "backlog": "queue-backlog", "xyz": "",
	} {
		if got := strings.Join(matching(ids, text), " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAskCause(t *testing.T) {
	ids := []string{"power-brake", "power-cap"}
	for typed, want := range map[string]string{"power-cap\n": "power-cap", "?\npower\n POWER-B \n": "power-brake", "\n": "", "": "", "nothing\n2\n": "power-cap"} {
		var out strings.Builder
		got, err := askCause(t.Context(), strings.NewReader(typed), &out, ids)
		if err != nil || got != want {
			t.Errorf("%q: %q %v, want %q\n%s", typed, got, err, want, out.String())
		}
	}
	if _, err := askCause(t.Context(), strings.NewReader(strings.Repeat("x\n", mostAsked+1)), io.Discard, ids); err == nil {
		t.Error("it asks for ever")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, stop := io.Pipe()
	defer stop.Close()
	if _, err := askCause(ctx, silent, io.Discard, ids); !errors.Is(err, context.Canceled) {
		t.Errorf("the context ended and it said %v", err)
	}
}

func TestGameScore(t *testing.T) {
	truth := &drill.Truth{Kind: drill.Fault, Expects: []string{"power-cap"}, Effects: []string{"queue-backlog"}}
	for _, c := range []struct {
		answer string
		took   time.Duration
		want   string
	}{
		{"power-cap", 43 * time.Second, "RIGHT: power-cap, 43 s after the onset."},
		{"queue-backlog", 43 * time.Second, "ALMOST: queue-backlog is an effect of it. The root was power-cap (43 s after the onset)."},
		{"gc-pause", 9 * time.Second, "WRONG: it was power-cap, not gc-pause (9 s after the onset)."},
		{"", 0, "No answer. It was power-cap."},
		{"power-cap", -5 * time.Second, "RIGHT: power-cap, 5 s before the onset: nothing was to be seen yet."},
	} {
		if got := gameScore(truth, c.answer, c.took); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := gameScore(&drill.Truth{Kind: drill.Outside}, "unknown", 0); !strings.HasPrefix(got, "RIGHT") {
		t.Error(got)
	}
}
