package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/judge"
	"llmtop/cmd/llmtop/internal/drill/score"
	"llmtop/rules"
)

// TestWrongBookScoresBadly: the same recordings, judged by the rule book and by one whose rules give the
// next rule's id.
func TestWrongBookScoresBadly(t *testing.T) {
	if raceEnabled {
		t.Skip("simulations of one goroutine each")
	}
	right, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	wrong := &rules.Book{}
	for i, r := range right.Rules {
		other := *r
		other.ID = right.Rules[(i+1)%len(right.Rules)].ID
		wrong.Rules = append(wrong.Rules, &other)
	}
	books := map[string]*rules.Book{"right": right, "wrong": wrong}
	runs := map[string][]score.Run{}
	dir := t.TempDir()
	for i, id := range []string{"queue-backlog", "tokenize-bound", "cpu-noisy-neighbour", "disk-stall"} {
		d, err := drill.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := drill.One(d, "twin", drill.Severe, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.llmrec", i))
		truth, err := drill.RunTwin(t.Context(), inst, path)
		if err != nil || !truth.Counts() {
			t.Fatalf("%s: %v, %s", id, err, truth.Discard)
		}
		for name, book := range books {
			judged, err := judge.Recording(t.Context(), path, judge.Options{Book: book})
			if err != nil {
				t.Fatal(err)
			}
			runs[name] = append(runs[name], score.Run{Truth: truth, Judged: judged})
		}
	}
	good, bad := score.Of(runs["right"], nil), score.Of(runs["wrong"], nil)
	if top1 := *good.Judges[0].Top1; top1 < 0.75 {
		t.Errorf("the rule book has a top1 of %g", top1)
	}
	if top1 := *bad.Judges[0].Top1; top1 > 0 {
		t.Errorf("a wrong book has a top1 of %g", top1)
	}
	for i, j := range good.Judges[1:] { // those judge without a book
		if other := bad.Judges[i+1]; *other.Top1 != *j.Top1 {
			t.Errorf("%s: %g with one book, %g with the other", j.Judge, *j.Top1, *other.Top1)
		}
	}
}
