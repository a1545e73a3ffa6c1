package device_test

import (
	"slices"
	"testing"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// What is turned is told as the events that a collector would raise of a real device.
func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name  string
		turn  knob.Change
		kinds []string
		text  string
	}{
		{"nothing", knob.Change{Knob: knob.Compute, Value: 1}, nil, ""},
		{"lost", knob.Change{Knob: knob.GPULost, Target: 1, Value: 1}, []string{probes.EventGPULost, probes.EventGPUXid}, "GPU 1: Xid 79"},
		{"Xid", knob.Change{Knob: knob.Xid, Target: 0, Value: 119}, []string{probes.EventGPURecovery, probes.EventGPUXid}, "GPU 0: Xid 119"},
		{"an application's Xid", knob.Change{Knob: knob.Xid, Target: 0, Value: 31}, []string{probes.EventGPUXid}, "GPU 0: Xid 31"},
		{"memory errors", knob.Change{Knob: knob.ECC, Target: 1, Value: 4}, []string{probes.EventGPUMemory, probes.EventGPURecovery, probes.EventGPUXid}, "GPU 1: 4 new memory errors that could not be set right"},
		{"brake", knob.Change{Knob: knob.PowerBrake, Target: 0, Value: 1}, []string{probes.EventGPUThrottle}, ""},
		{"NVLinks", knob.Change{Knob: knob.NVLink, Target: 1, Value: 0.5}, []string{probes.EventGPUNVLink}, ""},
		{"PCIe", knob.Change{Knob: knob.PCIeWidth, Target: 0, Value: 8}, []string{probes.EventGPUPCIe}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newToy(t, 3, 2)
			var w probes.Watcher
			var kinds, texts []string
			for n := 1; n <= 120; n++ {
				if n == 60 {
					if err := e.board.Apply(c.turn); err != nil {
						t.Fatal(err)
					}
				}
				for _, event := range w.Events(e.sample(n)) {
					powerCap := event.Kind == probes.EventGPUThrottle && c.name != "brake" // comes and goes on a healthy card
					if n >= 60 && !powerCap {
						kinds, texts = append(kinds, event.Kind), append(texts, event.Text)
					}
				}
			}
			slices.Sort(kinds)
			if kinds = slices.Compact(kinds); !slices.Equal(kinds, c.kinds) {
				t.Errorf("events %v (%q), want %v", kinds, texts, c.kinds)
			}
			if c.text != "" && !slices.Contains(texts, c.text) {
				t.Errorf("events %q, want %q among them", texts, c.text)
			}
		})
	}
}
