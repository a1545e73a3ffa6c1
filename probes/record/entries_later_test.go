package record

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// marksOf are the texts of the marks among the samples from … to.
func marksOf(t *testing.T, r *Reader, from, to int) (texts []string) {
	t.Helper()
	for e, err := range r.Entries(t.Context(), from, to) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Mark != nil {
			texts = append(texts, e.Mark.Text)
		}
	}
	return texts
}

// TestMarksBelongToTheirTime: a mark that was set when the recording was over, or waits
// beside it, is in the part of its time, once.
func TestMarksBelongToTheirTime(t *testing.T) {
	samples := newSmall().many(60)
	path := write(t, samples)
	for i, text := range map[int]string{20: "late", 40: "later"} {
		if _, err := AddMark(path, samples[i].At.Add(time.Millisecond), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := addToSpool(spoolOf(path, false), Mark{At: samples[21].At, Text: "waits"}); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	for _, c := range []struct {
		from, to int
		want     []string
	}{{0, 60, []string{"late", "later", "waits"}}, {0, 10, nil}, {15, 30, []string{"late", "waits"}}, {15, 21, []string{"late"}}, {20, 20, nil}, {35, 60, []string{"late", "later"}}} {
		got := marksOf(t, r, c.from, c.to)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("samples %d to %d: marks %q, want %q", c.from, c.to, got, c.want)
		}
	}
	out := filepath.Join(t.TempDir(), "part.llmrec")
	if copied, err := Extract(t.Context(), r, 15, 30, out); err != nil || copied.Marks != 2 {
		t.Errorf("%+v, %v", copied, err)
	}
	whole := filepath.Join(t.TempDir(), "whole.llmrec")
	if _, copied, err := Repair(t.Context(), path, whole); err != nil || copied.Marks != 3 {
		t.Errorf("repaired: %+v, %v", copied, err)
	}
}
