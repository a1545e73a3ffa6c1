package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestPoints reads the table: ten points and more were held out, none of them from a source that
// the model was set to.
func TestPoints(t *testing.T) {
	all, err := readPoints(bytes.NewReader(pointsTSV))
	if err != nil {
		t.Fatal(err)
	}
	set, held := map[string]bool{}, 0
	for _, p := range all {
		if p.held {
			held++
		} else {
			set[p.source] = true
		}
	}
	if held < enough || len(set) == 0 {
		t.Errorf("%d points were held out, %d sources set the model", held, len(set))
	}
	for _, p := range all {
		if p.held && set[p.source] {
			t.Errorf("%s %s is held out, but its source %q set the model", p.name(), p.load(), p.source)
		}
	}
}

func TestBadPoints(t *testing.T) {
	header, rows, _ := strings.Cut(string(pointsTSV), "\n")
	row, _, _ := strings.Cut(rows, "\n")
	for _, c := range []struct{ old, new, want string }{
		{"set\t", "sett\t", "use is set, held or late"},
		{"a100-80\t", "a101\t", `there is no GPU "a101"`},
		{"\t27.8\t", "\tfast\t", "ttft_ms"},
		{"\t27.8\t", "\tNaN\t", "ttft_ms"},
		{"\t1\t-\t27.8", "\t1\t5\t27.8", "either a concurrency or a rate"},
		{"\t27.8\t", "\t", "fields"},
	} {
		bad := strings.Replace(row, c.old, c.new, 1)
		_, err := readPoints(strings.NewReader(header + "\n" + bad + "\n"))
		if bad == row || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "points.tsv:2") {
			t.Errorf("%q for %q: got %v, want %q of line 2", c.new, c.old, err, c.want)
		}
	}
}

// TestEvaluate follows one client whose requests are alike: its TTFT and TPOT are those of the
// model's steps.
func TestEvaluate(t *testing.T) {
	all, err := readPoints(bytes.NewReader(pointsTSV))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.clients != 1 || p.vary != 0 || p.prompt > 2000 {
			continue
		}
		ttft, tpot, err := evaluate(&p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBench(&p)
		if err != nil {
			t.Fatal(err)
		}
		b.left = 1
		b.come(0)
		b.now = b.coming[0].ready
		b.admit()
		b.step()
		if off(ttft, b.now.Seconds()) > 0.001 || tpot <= 0 || tpot >= ttft {
			t.Errorf("%s %s: TTFT %v, its own step ends after %v; TPOT %v", p.name(), p.load(), ttft, b.now, tpot)
		}
		return
	}
	t.Fatal("there is no such point")
}
