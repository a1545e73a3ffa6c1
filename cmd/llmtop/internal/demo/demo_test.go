package demo

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/live"
	"llmtop/rules/roofline"
)

func TestFaults(t *testing.T) {
	ids := IDs()
	if len(ids) < 7 || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("ids %v: too few, or one stands twice", ids)
	}
	for _, id := range ids {
		f, err := Lookup(id)
		if err != nil || f.Story == "" || f.healthy.rate <= 0 {
			t.Errorf("%s: %+v, %v", id, f, err)
		}
		does := len(f.during) > 0 || f.burners > 0 || f.tokenizer > 0
		if does == (id == None) {
			t.Errorf("%s: does something: %v", id, does)
		}
	}
	if _, err := Lookup("power-cap"); err == nil || !strings.Contains(err.Error(), "queue-backlog") {
		t.Errorf("a fault that needs a GPU: %v, want an error that lists those there are", err)
	}
}

// Every fault of a twin does something to it, in words that it understands, on any GPU.
func TestTwinFaults(t *testing.T) {
	for _, id := range TwinIDs() {
		f, err := LookupTwin(id)
		if err != nil || f.Story == "" || f.healthy.rate <= 0 {
			t.Errorf("%s: %+v, %v", id, f, err)
		}
		if does := len(f.during)+len(f.turns) > 0; does == (id == None) {
			t.Errorf("%s: does something: %t", id, does)
		}
		for _, g := range roofline.GPUs {
			for _, turn := range f.turns {
				c, err := knob.ParseChange(turn.on(g))
				if err == nil {
					err = live.Turnable(c)
				}
				if err != nil {
					t.Errorf("%s on %s: %v", id, g.Name, err)
				}
			}
		}
	}
	if _, err := LookupTwin("lunch"); err == nil || !strings.Contains(err.Error(), "power-cap") {
		t.Errorf("no fault: %v", err)
	}
}

// More and faster GPUs serve more, and never more than a small machine can send.
func TestTwinCapacity(t *testing.T) {
	at := func(gpu string, n int) float64 {
		g, err := roofline.LookupGPU(gpu)
		if err != nil {
			t.Fatal(err)
		}
		m, err := roofline.LookupModel("llama-3-70b")
		if err != nil {
			t.Fatal(err)
		}
		w := Twin{Sequences: 256, Deployment: roofline.Deployment{GPU: g, Model: m, Weights: roofline.FP8, KV: roofline.FP8, TP: n, PP: 1}}
		return w.capacity()
	}
	if l4, half, h100, b200 := at("l4", 8), at("h100", 4), at("h100", 8), at("b200", 8); !(0 < l4 && l4 < half && half < h100 && h100 <= b200 && b200 <= mostRate) {
		t.Errorf("capacities %.1f, %.1f, %.1f, %.1f", l4, half, h100, b200)
	}
}

// TestParent closes the pipe as the end of the parent does, in whatever way it came.
func TestParent(t *testing.T) {
	in, parent := io.Pipe()
	lines, ended := make(chan string), make(chan struct{})
	Parent(in, func(line string) { lines <- line }, func() { close(ended) })
	io.WriteString(parent, "tokenizer 3ms\n")
	if got := <-lines; got != "tokenizer 3ms" {
		t.Errorf("control line %q", got)
	}
	parent.Close()
	<-ended
}

type countingTokenizer struct {
	engine.Tokenizer
	calls int
}

func (c *countingTokenizer) Encode(text string, _ bool) []int { c.calls++; return []int{len(text)} }

func TestSlowTokenizer(t *testing.T) {
	for _, c := range []struct {
		line string
		slow bool
	}{{"", false}, {"tokenizer nonsense", false}, {"tokenizer 2ms", true}} {
		real := &countingTokenizer{}
		s := &SlowTokenizer{}
		tok := s.Wrap(real)
		s.Control(c.line)
		if got := tok.Encode("abc", false); !slices.Equal(got, []int{3}) {
			t.Errorf("%q: %v, want the real tokenizer's answer", c.line, got)
		}
		if slow := real.calls > 1; slow != c.slow {
			t.Errorf("%q: tokenized %d times", c.line, real.calls)
		}
	}
}

// TestChild starts a program that says where it listens and waits for its input to
// end, then one that dies with a word.
func TestChild(t *testing.T) {
	c, err := spawn(t.Context(), "/bin/sh", "-c", "echo serving on http://127.0.0.1:1; cat >/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	if line := <-c.first; line != "serving on http://127.0.0.1:1" {
		t.Errorf("first line %q", line)
	}
	c.stop()
	dying, err := spawn(t.Context(), "/bin/sh", "-c", "echo no such model >&2; exit 1")
	if err != nil {
		t.Fatal(err)
	}
	<-dying.done
	if err := dying.err(); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("%v, want what it said last", err)
	}
	if _, err := spawn(t.Context(), "/no/such/program", "serve"); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestServeFails(t *testing.T) {
	d, err := Start(t.Context(), Config{Exe: "/bin/false", Fault: Fault{}, After: time.Minute, Log: t.Logf})
	if err == nil {
		d.Stop()
		t.Fatal("an engine that does not come up was taken for one")
	}
}
