package probes

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// gpus is a section of devices.
func gpus(at time.Time, devices ...GPUDevice) *GPU { return &GPU{At: at, Devices: devices} }

// ampere is a device of which NVML tells no activity.
func ampere(uuid string) GPUDevice {
	no := None[float64](Unsupported)
	return GPUDevice{At: sec(100), UUID: uuid, Source: SourceNVML, KernelActiveRatio: Some(1.0), PowerWatts: Some(300.0),
		SMActiveRatio: no, DRAMActiveRatio: no, TensorActiveRatio: no, SMOccupancyRatio: no, PCIeTxBytesPerS: no}
}

// exported is the same one as an exporter tells of it.
func exported(uuid string, at time.Time) GPUDevice {
	return GPUDevice{At: at, UUID: uuid, Source: SourceDCGM, PeriodSeconds: 30, KernelActiveRatio: Some(0.9), PowerWatts: Some(290.0), EnergyJoulesTotal: Some(5.0),
		SMActiveRatio: Some(0.7), DRAMActiveRatio: Some(0.8), TensorActiveRatio: Some(0.1), SMOccupancyRatio: None[float64](NotExposed), ActivityFrom: SourceDCGM}
}

// joined is what a sample at second 100 has of several sections.
func joined(sections ...*GPU) *GPU {
	s := &Sample{At: sec(100)}
	for _, g := range sections {
		g.AddTo(s)
	}
	return s.GPU
}

// What the driver tells wins, and the exporter fills in the activity, dated by itself.
// In which order they come makes no difference.
func TestExporterFillsIn(t *testing.T) {
	own, other := gpus(sec(100), ampere("A"), ampere("B")), gpus(sec(80), exported("B", sec(80)), exported("C", sec(80)))
	own.Driver, own.Processes = "550", []GPUProcess{{GPU: "B", PID: 7}}
	before, _ := json.Marshal([]*GPU{own, other})
	for name, got := range map[string]*GPU{"driver first": joined(own, other), "exporter first": joined(other, own)} {
		if got == own || !got.At.Equal(sec(100)) || got.Driver != "550" || len(got.Processes) != 1 || len(got.Devices) != 2 {
			t.Fatalf("%s: %+v", name, got)
		}
		if !reflect.DeepEqual(got.Devices[0], own.Devices[0]) {
			t.Errorf("%s: a device that is not exported is now %+v", name, got.Devices[0])
		}
		want := ampere("B")
		want.SMActiveRatio, want.DRAMActiveRatio, want.TensorActiveRatio = Some(0.7), Some(0.8), Some(0.1)
		want.ActivityFrom, want.ActivityAt = SourceDCGM, sec(80)
		if !reflect.DeepEqual(got.Devices[1], want) {
			t.Errorf("%s: %+v, want %+v", name, got.Devices[1], want)
		}
	}
	if after, _ := json.Marshal([]*GPU{own, other}); string(after) != string(before) {
		t.Errorf("the sections were changed: %s, were %s", after, before)
	}
}

// After three of its periods what an exporter told is stale, and says from when it is.
func TestOldExporter(t *testing.T) {
	for age, fresh := range map[time.Duration]bool{89 * time.Second: true, 90 * time.Second: true, 91 * time.Second: false} {
		at := sec(100).Add(-age)
		d := joined(gpus(sec(100), ampere("A")), gpus(at, exported("A", at))).Devices[0]
		want := None[float64](Stale)
		if fresh {
			want = Some(0.7)
		}
		if d.SMActiveRatio != want || d.PowerWatts != Some(300.0) || !d.ActivityAt.Equal(at) {
			t.Errorf("%v old: SM %v (%v), power %v, activity at %v", age, d.SMActiveRatio, d.SMActiveRatio.Why(), d.PowerWatts, d.ActivityAt)
		}
		if d.SMOccupancyRatio != None[float64](Unsupported) {
			t.Errorf("%v old: what the exporter never told is %v", age, d.SMOccupancyRatio.Why())
		}
		alone := joined(gpus(at, exported("A", at))).Devices[0]
		if alone.SMActiveRatio != want || alone.PowerWatts.Seen() != fresh || alone.SMOccupancyRatio != None[float64](NotExposed) {
			t.Errorf("%v old, alone: SM %v (%v), power %v", age, alone.SMActiveRatio, alone.SMActiveRatio.Why(), alone.PowerWatts)
		}
	}
}

// A device that is lost, or that tells its activity by itself, takes nothing over.
func TestNothingToFillIn(t *testing.T) {
	lost := GPUDevice{UUID: "A", Err: "the GPU is lost"}.WithoutReadings(Lost)
	hopper := ampere("A")
	hopper.DRAMActiveRatio, hopper.ActivityFrom = Some(0.3), "gpm"
	for name, d := range map[string]GPUDevice{"lost": lost, "Hopper": hopper} {
		if got := joined(gpus(sec(100), d), gpus(sec(99), exported("A", sec(99)))).Devices[0]; !reflect.DeepEqual(got, d) {
			t.Errorf("%s: %+v, want %+v", name, got, d)
		}
	}
}

// Where there is one source its section is placed as it is, with the driver's note of why it
// tells of no device: the board of another maker does not hide that a driver is broken.
func TestOneSource(t *testing.T) {
	none := &GPU{At: sec(100), Note: "no NVML device: the library is not installed"}
	other := gpus(sec(90), exported("A", sec(90)))
	card := gpus(sec(100), GPUDevice{UUID: "R", Source: SourceAMDGPU})
	noted := func(g *GPU) *GPU { n := *g; n.Note = none.Note; return &n }
	for name, c := range map[string]struct {
		sections []*GPU
		want     *GPU
	}{
		"nothing": {[]*GPU{none}, none}, "the exporter": {[]*GPU{none, other}, noted(other)}, "the exporter first": {[]*GPU{other, none}, noted(other)},
		"AMD": {[]*GPU{none, card}, noted(card)}, "no driver to ask": {[]*GPU{card}, card}, "twice nothing": {[]*GPU{none, {Note: "something else"}}, none},
	} {
		if got := joined(c.sections...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if other.Note+card.Note != "" {
		t.Error("a section was changed")
	}
}

// Devices of another driver come after the first one's, with numbers of their own.
func TestTwoDrivers(t *testing.T) {
	a := gpus(sec(100), ampere("A"), ampere("B"))
	a.Devices[1].Index, a.Driver = 1, "550"
	b := gpus(sec(101), GPUDevice{UUID: "R", Source: SourceAMDGPU, Index: 0}, GPUDevice{UUID: "S", Source: SourceAMDGPU, Index: 1})
	b.Processes, b.ProcessesAt = []GPUProcess{{GPU: "R", PID: 9}}, sec(101)
	for _, sections := range [][]*GPU{{a, b}, {a, gpus(sec(99), exported("A", sec(99))), b}} {
		got := joined(sections...)
		var names string
		for i, d := range got.Devices {
			names += d.UUID
			if d.Index != i {
				t.Errorf("device %d has number %d", i, d.Index)
			}
		}
		if names != "ABRS" || got.Driver != "550" || !got.At.Equal(sec(101)) || len(got.Processes) != 1 || !got.ProcessesAt.Equal(sec(101)) || b.Devices[0].Index != 0 {
			t.Errorf("joined %+v", got)
		}
		if filled := len(sections) > 2; got.Devices[0].SMActiveRatio.Seen() != filled {
			t.Errorf("SM activity %v", got.Devices[0].SMActiveRatio)
		}
	}
}

// MIG instances have no UUID at an exporter: they are found by their number, or by a
// profile that there is once.
func TestInstancesAreJoined(t *testing.T) {
	mine := func(uuid, profile string, id Opt[uint64]) GPUDevice {
		d := ampere(uuid)
		d.Parent, d.Instance, d.InstanceID = "A", profile, id
		return d
	}
	theirs := func(profile string, id uint64, sm float64) GPUDevice {
		d := exported("A/"+profile, sec(99))
		d.Parent, d.Instance, d.InstanceID, d.SMActiveRatio = "A", profile, Some(id), Some(sm)
		return d
	}
	var unknown Opt[uint64]
	for name, c := range map[string]struct {
		mine []GPUDevice
		want []Opt[float64]
	}{
		"by number":                {[]GPUDevice{mine("M1", "1g", Some[uint64](10)), mine("M2", "1g", Some[uint64](9)), mine("M3", "3g", Some[uint64](2))}, []Opt[float64]{Some(0.10), Some(0.09), Some(0.02)}},
		"by profile":               {[]GPUDevice{mine("M3", "3g", unknown)}, []Opt[float64]{Some(0.02)}},
		"one of two of a profile":  {[]GPUDevice{mine("M1", "1g", unknown)}, []Opt[float64]{None[float64](Unsupported)}},
		"two where there is one":   {[]GPUDevice{mine("M1", "3g", unknown), mine("M2", "3g", unknown)}, []Opt[float64]{None[float64](Unsupported), None[float64](Unsupported)}},
		"number of another":        {[]GPUDevice{mine("M1", "3g", Some[uint64](1))}, []Opt[float64]{None[float64](Unsupported)}},
		"a profile that is not on": {[]GPUDevice{mine("M1", "7g", unknown)}, []Opt[float64]{None[float64](Unsupported)}},
	} {
		parent := ampere("A")
		parent.MIG = true
		got := joined(gpus(sec(100), append([]GPUDevice{parent}, c.mine...)...),
			gpus(sec(99), theirs("1g", 9, 0.09), theirs("1g", 10, 0.10), theirs("3g", 2, 0.02)))
		for i, want := range c.want {
			if d := got.Devices[i+1]; d.SMActiveRatio != want {
				t.Errorf("%s: %s has %v (%v), want %v", name, d.UUID, d.SMActiveRatio, d.SMActiveRatio.Why(), want)
			}
		}
		if got.Devices[0].SMActiveRatio.Seen() {
			t.Errorf("%s: the divided device has %v", name, got.Devices[0].SMActiveRatio)
		}
	}
}

func TestStands(t *testing.T) {
	for _, c := range []struct {
		age, limit time.Duration
		period     float64
		want       bool
	}{
		{3 * time.Second, 3 * time.Second, 0, true}, {4 * time.Second, 3 * time.Second, 0, false},
		{90 * time.Second, 3 * time.Second, 30, true}, {91 * time.Second, 3 * time.Second, 30, false},
		{5 * time.Second, 5 * time.Second, 1, true},
	} {
		d := GPUDevice{At: sec(100), PeriodSeconds: c.period}
		if got := d.Stands(sec(100).Add(c.age), c.limit); got != c.want {
			t.Errorf("%v old, limit %v, renewed every %v s: %v", c.age, c.limit, c.period, got)
		}
	}
}
