package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"llmtop/probes"
)

// fullGPU is a device of which everything is known.
func fullGPU(index int) probes.GPUDevice {
	d := probes.GPUDevice{At: noon, Index: index, UUID: fmt.Sprintf("GPU-%08d-aaaa-bbbb-cccc-000000000000", index), Name: "NVIDIA H200", Source: "nvml",
		PCIAddress: "0000:5e:00.0", Architecture: "hopper", CPUs: "0-31,64-95", ActivityFrom: "gpm",
		ThrottleBits: probes.Some(probes.ThrottlePowerCap), XidTotal: probes.Some[uint64](0)}
	for i, r := range probes.GPUReadings {
		*r.Of(&d) = probes.Some(float64(i) / 100)
	}
	for _, well := range []*probes.Opt[float64]{&d.ECCUncorrectedTotal, &d.RemapPending, &d.RemapFailed, &d.RecoveryAction} {
		*well = probes.Some(0.0)
	}
	d.PCIeWidth, d.PCIeGeneration, d.NVLinksActive = d.PCIeWidthMax, d.PCIeGenerationMax, d.NVLinksTotal
	return d
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fill puts a reading into each Opt of a struct.
func fill(v any) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		switch f := s.Field(i); f.Interface().(type) {
		case probes.Opt[float64]:
			f.Set(reflect.ValueOf(probes.Some(1234567.89)))
		case probes.Pressure:
			fill(f.Addr().Interface())
		}
	}
}

// fullReport is a host of which everything is known: one GPU, one engine.
func fullReport() *doctorReport {
	host, process := &probes.Host{At: noon, CPUs: 128, Kernel: "6.8.0-45-generic"}, &probes.Process{At: noon, PID: 42, Name: "python3"}
	fill(host)
	fill(process)
	for i := range 12 {
		disk, nic, member, thread := probes.Disk{Name: fmt.Sprintf("nvme%dn1", i)}, probes.NIC{Name: "eth0", Kind: "ethernet", Up: true}, probes.Member{PID: i, Name: "VLLM::Worker_TP"}, probes.Thread{PID: i, Name: "python3", State: "R"}
		fill(&disk)
		fill(&nic)
		fill(&member)
		fill(&thread)
		host.Disks, host.NICs = append(host.Disks, disk), append(host.NICs, nic)
		process.Members, process.BusyThreads = append(process.Members, member), append(process.BusyThreads, thread)
	}
	sections := doctorSections{GPU: &probes.GPU{At: noon, Driver: "580.65.06", Devices: []probes.GPUDevice{fullGPU(0)},
		Processes: []probes.GPUProcess{{GPU: fullGPU(0).UUID, PID: 42, Name: "python3", MemoryBytes: probes.Some(1e11)}}}, Host: host, Process: process}
	r := &doctorReport{At: noon, Sections: sections, Before: sections, Engines: []foundEngine{{Engine: "vLLM", Dialect: "vllm", Address: "http://127.0.0.1:8000", PID: 42, User: "llm", Readable: true}}}
	for i := range 50 {
		r.Calls = append(r.Calls, callReport{Symbol: fmt.Sprintf("nvmlDeviceGetReadingOfKind%d", i), Calls: 2, Result: "ok", MedianSeconds: 12e-6, LongestSeconds: 1.2e-3})
	}
	for _, name := range []string{"scrape http://127.0.0.1:8000", "requests", "profile", "config", "host", "process", "neighbours", "sockets", "gpu", "dcgm", "amdgpu"} {
		r.Probes = append(r.Probes, probeReport{Name: name, State: probeOK, Seconds: []float64{0.0012, 0.0011}})
	}
	r.conclude()
	return r
}

// Whatever is read, a line fits a narrow terminal, and a host with one GPU a paste.
func TestDoctorFits(t *testing.T) {
	r := fullReport()
	text := r.text()
	if n := strings.Count(text, "\n"); n >= 200 {
		t.Errorf("%d lines", n)
	}
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > doctorWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, reading := range probes.GPUReadings {
		if !strings.Contains(text, " "+reading.Name+" ") {
			t.Errorf("%s is not shown", reading.Name)
		}
	}
	for _, want := range []string{"nothing is broken", "clocks held down by: power cap", "(Xid) since llmtop began to listen: 0", "pid 42", "… and 6 more"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
}

// What is not there is named with its reason, once for all devices that are alike.
func TestDoctorTellsReasons(t *testing.T) {
	r := &doctorReport{Sections: doctorSections{GPU: &probes.GPU{At: noon}}}
	for i := range 8 {
		d := fullGPU(i)
		d.SMActiveRatio, d.ECCUncorrectedTotal, d.NUMANode = probes.None[float64](probes.Unsupported), probes.None[float64](probes.NoPermission), probes.Opt[float64]{}
		if i == 7 {
			d.Err = "the GPU is lost: it has fallen off the bus"
			d = d.WithoutReadings(probes.Lost)
			d.XidTotal, d.LastXid = probes.Some[uint64](2), probes.Some[uint64](79)
		}
		r.Sections.GPU.Devices = append(r.Sections.GPU.Devices, d)
	}
	r.Sections.GPU.ProcessesAt, r.Sections.GPU.Processes = noon, nil
	text := r.text()
	if n, lost := strings.Count(text, "no process holds memory"), len(r.Sections.GPU.Devices)-1; n != lost {
		t.Errorf("%d devices hold no process's memory, want %d: the lost one tells nothing", n, lost)
	}
	for want, times := range map[string]int{
		" unsupported: sm_active_ratio\n": 1, " no permission: ecc_uncorrected_total\n": 1, " not read: numa_node\n": 1,
		" not there: what is not there of GPU 0\n": 6, " lost: kernel_active_ratio,": 1, "BROKEN the GPU is lost: it has fallen off the bus": 1,
		" clocks held down by: not known, lost": 1, " listen: 2, the last Xid 79": 1,
	} {
		if n := strings.Count(text, want); n != times {
			t.Errorf("%q is there %d times, want %d", want, n, times)
		}
	}
}

func TestDoctorIsSafe(t *testing.T) {
	evil := "\x1b[2J\x07\u202eevil"
	r := fullReport()
	r.Sections.GPU.Devices[0].Name, r.Sections.GPU.Devices[0].Err, r.Sections.Process.Name = evil, evil, evil
	r.Sections.Process.Members[0].Name, r.Engines[0].Engine, r.Probes[0].Error, r.Calls[0].Result, r.Frame.Driver = evil, evil, evil, evil, evil
	r.conclude()
	if text := r.text(); strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "evil") {
		t.Errorf("got %q", text)
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0.71, "ratio", "71 %"}, {0.0123, "ratio", "1.2 %"}, {0, "ratio", "0 %"}, {1, "ratio", "100 %"},
		{0, "bytes", "0 B"}, {1536, "bytes", "1.5 KiB"}, {150754820096, "bytes", "140 GiB"}, {2.5e9, "bytes/s", "2.33 GiB/s"},
		{1.965e9, "Hz", "1965 MHz"}, {699.95, "W", "700 W"}, {61, "°C", "61 °C"}, {-3, "°C", "-3 °C"}, {4.2e9, "J", "4.2 GJ"},
		{0, "s", "0 s"}, {12e-6, "s", "12 µs"}, {0.0012, "s", "1.2 ms"}, {47567.87, "s", "47568 s"}, {1, "bool", "yes"}, {0, "bool", "no"},
		{16, "count", "16"}, {1.935, "count", "1.94"}, {-0.001, "count", "0"},
	} {
		if got := quantity(c.v, c.unit); got != c.want {
			t.Errorf("%v %s: got %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// The units that names tell are those of the table.
func TestUnitOf(t *testing.T) {
	for _, r := range probes.GPUReadings {
		if got := unitOf(r.Name); got != r.Unit && r.Unit != "bool" {
			t.Errorf("%s: %s, want %s", r.Name, got, r.Unit)
		}
	}
}

func TestReadingsOf(t *testing.T) {
	now := &probes.Host{At: noon, CPUs: 2, Kernel: "6.8", CPUBusySecondsTotal: probes.Some(12.5), Load1: probes.None[float64](probes.NoPermission)}
	now.CPUPressure.SomeSecondsTotal = probes.Some(3.0)
	was := &probes.Host{CPUBusySecondsTotal: probes.Some(11.0)}
	was.CPUPressure.SomeSecondsTotal = probes.Some(3.5) // it fell: counted anew
	got := map[string]string{}
	for _, s := range grown(now, was) {
		got[s.name] = s.text + s.absent
	}
	for name, want := range map[string]string{"cpus": "2", "kernel": "6.8", "cpu_busy_seconds_total": "12.5 s (+1.5 s)", "load1": "no permission",
		"cpu_pressure.some_seconds_total": "3 s (-500 ms)", "memory_total_bytes": "not read"} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if _, ok := got["at"]; ok || got["disks"] != "" {
		t.Errorf("got %v", got)
	}
}

// A row tells what counters grew by, and leaves out what is 0.
func TestRows(t *testing.T) {
	thread := func(tid int, cpu, wait float64) probes.Thread {
		return probes.Thread{PID: 42, TID: tid, Name: "python3", State: "R", CPUSecondsTotal: probes.Some(cpu), RunWaitSecondsTotal: probes.Some(wait)}
	}
	p := &page{}
	second := thread(44, 0, 0)
	second.RunWaitSecondsTotal = probes.None[float64](probes.NoPermission)
	rows(p, "threads", []probes.Thread{thread(43, 12.5, 3), second, thread(45, 7, 0)}, []probes.Thread{thread(45, 7, 0), thread(43, 11.5, 3)})
	want := ` threads
   pid 42, tid 43, python3, R, cpu +1 s
   pid 42, tid 44, python3, R
   pid 42, tid 45, python3, R
   no permission: run_wait_seconds_total
`
	if got := p.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestCallsText(t *testing.T) {
	r := &doctorReport{Calls: []callReport{
		{Symbol: "nvmlInit", GPU: -1, Calls: 1, Result: "ok", MedianSeconds: 7e-4, LongestSeconds: 7e-4},
		{Symbol: "nvmlEventSetWait", GPU: -1, Result: "no answer yet", OutSeconds: 0.3},
		{Symbol: "nvmlDeviceGetProcessUtilization", Calls: 2, Result: "ok: nothing to tell", MedianSeconds: 1e-3, LongestSeconds: 0.002},
		{Symbol: "nvmlGpmSampleGet", Result: "the driver has no such function"},
		{Symbol: "nvmlDeviceGetFieldValues", Result: "the driver has no such function"},
		{Symbol: "nvmlDeviceGetPowerUsage", Calls: 1, Result: "ok", OutSeconds: 4.5},
	}}
	p := &page{}
	r.callsText(p)
	want := `  PowerUsage: out for 4.5 s and not back
  Init                   700 µs, 700 µs    ProcessUtilization         1 ms, 2 ms
  the driver has no such function:
    GpmSampleGet, FieldValues
`
	if _, got, _ := strings.Cut(strings.TrimPrefix(p.String(), "\n"), "\n"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFoldCalls(t *testing.T) {
	calls := []callReport{{Symbol: "nvmlSystemGetDriverVersion", GPU: -1, Calls: 1, Result: "ok"}}
	for gpu := range 4 {
		power := callReport{Symbol: "nvmlDeviceGetPowerUsage", GPU: gpu, Calls: 2, Result: "ok", MedianSeconds: float64(gpu)}
		if gpu == 3 {
			power.OutSeconds = 7
		}
		calls = append(calls, power, callReport{Symbol: "nvmlDeviceGetName", GPU: gpu, Calls: 1, Result: "ok"})
	}
	var got []string
	for _, f := range foldCalls(calls) {
		got = append(got, fmt.Sprintf("%s%s %d %v %v", strings.TrimPrefix(f.Symbol, "nvml"), f.gpus, f.Calls, f.MedianSeconds, f.OutSeconds))
	}
	want := "SystemGetDriverVersion 1 0 0; DeviceGetPowerUsage (GPU 0, 1, 2) 6 2 0; DeviceGetName 4 0 0; DeviceGetPowerUsage (GPU 3) 2 3 7"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}
