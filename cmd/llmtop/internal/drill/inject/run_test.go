package inject

import (
	"context"
	"errors"
	"strings"
	"testing"

	"llmtop/cmd/llmtop/internal/drill"
)

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name string
		with map[string]string
		want string // in the error; "" for none
	}{
		{"load", map[string]string{"rate": "0.5", "streams": "3", "flags": "--prompt-tokens 40", "replaces": "yes", "lasts": "20s", "over": "10s"}, ""},
		{"restart", nil, ""},
		{"restart", map[string]string{"flags": "--max-num-seqs 2", "away": "3s", "times": "4", "every": "5s"}, ""},
		{"load", nil, "no rate"},
		{"load", map[string]string{"rate": "lots"}, `rate: "lots"`},
		{"load", map[string]string{"rate": "NaN"}, "rate"},
		{"load", map[string]string{"rate": "1", "replaces": "maybe"}, "neither yes nor no"},
		{"restart", map[string]string{"awya": "3s"}, `no setting "awya"`},
		{"restart", map[string]string{"away": "3h"}, "between"},
		{"earthquake", nil, "there are"},
	} {
		_, err := New(c.name, c.with)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.name, c.with, err, c.want)
		}
	}
}

func TestEveryday(t *testing.T) {
	s, err := everydayStream([]string{"--prompt-tokens", "60", "--rate", "0.5", "--output-tokens", "9"})
	if err != nil || s.Share != 0.5 || strings.Join(s.Flags, " ") != "--prompt-tokens 60 --output-tokens 9" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := everydayStream(nil); err != nil || s.Share != everyday {
		t.Errorf("%+v, %v", s, err)
	}
	for _, flags := range [][]string{{"--rate"}, {"--rate", "fast"}, {"--rate", "-1"}, {"--rate", "NaN"}} {
		if _, err := everydayStream(flags); err == nil {
			t.Errorf("%v was taken", flags)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name     string
		truth    drill.Truth
		injected error
		proof    proof
		want     string // in the reason; "" when the run counts
	}{
		{"in its band", drill.Truth{Severity: drill.Medium, Ratio: 2}, nil, proof{}, ""},
		{"at its upper end", drill.Truth{Severity: drill.Medium, Ratio: 3}, nil, proof{}, "not 1.6 to 3"},
		{"too weak", drill.Truth{Severity: drill.Severe, Ratio: 2}, nil, proof{}, "not more than 3"},
		{"not injected", drill.Truth{Severity: drill.Medium, Ratio: 2}, errors.New("no such thing"), proof{}, "no such thing"},
		{"not confirmed", drill.Truth{Severity: drill.Medium, Ratio: 2}, nil, proof{missing: errors.New("not confirmed: kv.usage")}, "kv.usage"},
		{"a busy machine", drill.Truth{Severity: drill.Medium, Ratio: 2}, nil, proof{others: 0.9}, "90 %"},
		{"a calm control", drill.Truth{Kind: drill.Healthy, Ratio: 1.1}, nil, proof{}, ""},
		{"a disturbed control", drill.Truth{Kind: drill.Healthy, Ratio: 2}, nil, proof{}, "nothing was done"},
		{"a note", drill.Truth{Kind: drill.Note, Ratio: 0.4}, nil, proof{}, ""},
	} {
		judge(&c.truth, c.injected, c.proof)
		if (c.truth.Discard == "") != (c.want == "") || !strings.Contains(c.truth.Discard, c.want) {
			t.Errorf("%s: discard %q, want %q", c.name, c.truth.Discard, c.want)
		}
	}
}

func TestNotForTheEngine(t *testing.T) {
	ctx, path := context.Background(), t.TempDir()+"/r.llmrec"
	inst := drill.Instance{Drill: &drill.Drill{ID: "power-cap"}, Severity: drill.Mild}
	if _, err := RunCPU(ctx, inst, path); err == nil {
		t.Error("a drill without a part for the real engine was run")
	}
	inst.Drill.CPU = &drill.OnCPU{Skip: "needs a GPU"}
	if truth, err := RunCPU(ctx, inst, path); err != nil || truth.Discard != "needs a GPU" || truth.Expects[0] != "power-cap" {
		t.Errorf("%+v, %v, want it discarded with the reason", truth, err)
	}
	inst.Drill.CPU = &drill.OnCPU{Inject: "load", Dial: &drill.Dial{From: 0, To: 1, Severe: 1}}
	if _, err := RunCPU(ctx, inst, path); err == nil || !strings.Contains(err.Error(), "mild") {
		t.Errorf("a severity that it does not have: %v", err)
	}
}
