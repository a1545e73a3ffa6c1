package playtest

import (
	"bytes"
	"testing"
)

func TestPages(t *testing.T) {
	pages := Pages(t, "../../testdata/expositions/vllm-v1.prom")
	if len(pages) != 10 {
		t.Fatalf("%d pages, want two in each of five states", len(pages))
	}
	for i := 0; i < len(pages); i += 2 {
		a, b := pages[i], pages[i+1]
		if a.State != b.State || a.Seconds != 0 || b.Seconds != 10 {
			t.Errorf("pages of %s at %v, %s at %v", a.State, a.Seconds, b.State, b.Seconds)
		}
		still := a.State == "idle" || a.State == "stale"
		if bytes.Equal(a.Text, b.Text) != still {
			t.Errorf("%s: the pages are equal: %v", a.State, !still)
		}
	}
}
