package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

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

func TestServeFails(t *testing.T) {
	d, err := Start(t.Context(), Config{Exe: "/bin/false", Fault: Fault{}, After: time.Minute, Log: t.Logf})
	if err == nil {
		d.Stop()
		t.Fatal("an engine that does not come up was taken for one")
	}
}
