package ruletest

import (
	"fmt"

	"llmtop/probes"
)

// surroundings fill what only some scripts speak of: a reading is there when its series is.
func (w *world) surroundings(s *probes.Sample, seconds float64) {
	if s.Host != nil {
		w.machine(s.Host, seconds)
	}
	if s.Process != nil {
		w.members(s.Process, seconds)
	}
	if s.GPU != nil {
		w.health(&s.GPU.Devices[0], seconds)
		w.sharers(s)
	}
	if w.has("socket.") {
		w.sockets(s)
	}
	if w.has("neighbour.") {
		s.Neighbours = &probes.Neighbours{At: s.At, SpanSeconds: 10, Processes: 1, List: []probes.Neighbour{
			{PID: 999, Name: "other", CPUCores: probes.Some(w.at("neighbour.cpu")), SharedCPUs: probes.Some(8.0)}}}
	}
}

// gauge is a series as it stands, missing when the script does not speak of it.
func (w *world) gauge(name string) probes.Opt[float64] {
	if v, ok := w.get(name); ok && len(w.series[name]) > 0 {
		return probes.Some(v)
	}
	return probes.Opt[float64]{}
}

// counter adds a series up over time, missing when the script does not speak of it.
func (w *world) counter(name string, seconds float64) probes.Opt[float64] {
	v := w.gauge(name)
	if !v.Seen() {
		return v
	}
	w.totals[name] += v.Or(0) * seconds
	return probes.Some(w.totals[name])
}

func (w *world) machine(h *probes.Host, seconds float64) {
	h.IOPressure.SomeSecondsTotal = w.counter("host.io_pressure", seconds)
	h.MemoryPressure.SomeSecondsTotal = w.counter("host.memory_pressure", seconds)
	h.SwapInTotal = w.counter("host.swap_in", seconds)
	if v := w.gauge("host.memory_available"); v.Seen() {
		h.MemoryAvailableBytes = v
	}
	if w.has("host.disk_") {
		w.totals["requests"] += 100 * seconds
		w.totals["waited"] += 100 * seconds * w.at("host.disk_wait")
		h.Disks = []probes.Disk{{Name: "nvme0n1", BusySecondsTotal: w.counter("host.disk_busy", seconds), WaitSecondsTotal: probes.Some(w.totals["waited"]),
			ReadsTotal: probes.Some(w.totals["requests"]), WritesTotal: probes.Some(0.0)}}
	}
}

// coresNear is how many cores are near to the GPU, and how many the engine may run on.
const coresNear = 100

func (w *world) members(p *probes.Process, seconds float64) {
	p.CgroupThrottledSecTotal = w.counter("process.throttled_time", seconds)
	p.CPULimitCores = w.gauge("process.cpu_limit")
	p.BlockedSecondsTotal = w.counter("process.blocked", seconds)
	if cores := w.gauge("process.cpus_allowed"); cores.Seen() {
		w.totals["allowed"] += w.at("process.allowed_busy") * cores.Or(0) * seconds
		p.AllowedCPUs, p.AllowedBusySecondsTotal = cores, probes.Some(w.totals["allowed"])
	}
	p.MajorFaultsTotal = w.counter("process.major_faults", seconds)
	p.BusiestThreadSecs = w.counter("process.busiest_thread", seconds)
	p.VoluntarySwitchesTotal = w.counter("process.switches", seconds)
	far := int(w.at("process.numa_remote") * coresNear)
	p.Members = []probes.Member{{PID: p.PID, Name: p.Name, CPUSecondsTotal: p.CPUSecondsTotal, VoluntarySwitchesTotal: p.VoluntarySwitchesTotal,
		Threads: probes.Some(8.0), AllowedCPUs: fmt.Sprintf("%d-%d", far, far+coresNear-1)}}
}

func (w *world) health(d *probes.GPUDevice, seconds float64) {
	d.SMActiveRatio = w.gauge("gpu.sm_active")
	d.ThrottlePowerSecondsTotal = w.counter("gpu.power_time", seconds)
	d.ThrottleThermalSecondsTotal = w.counter("gpu.thermal_time", seconds)
	d.ThrottleBrakeSecondsTotal = w.counter("gpu.brake_time", seconds)
	d.ECCUncorrectedTotal, d.RemapPending = w.gauge("gpu.ecc_uncorrected"), w.gauge("gpu.remap_pending")
	if w.has("gpu.pcie_") {
		d.PCIeGeneration, d.PCIeWidth = probes.Some(w.at("gpu.pcie_generation")), probes.Some(w.at("gpu.pcie_width"))
		d.PCIeGenerationMax, d.PCIeWidthMax = probes.Some(usual["gpu.pcie_generation"]), probes.Some(usual["gpu.pcie_width"])
	}
	d.CPUs = fmt.Sprintf("0-%d", coresNear-1)
	if code := w.at("gpu.xid"); code != w.xid {
		if w.xid = code; code > 0 {
			w.totals["xids"]++
		}
	}
	total, last := probes.Some(uint64(w.totals["xids"])), probes.Some(uint64(w.xid))
	if w.at("gpu.lost") > 0 {
		*d = d.WithoutReadings(probes.Lost)
		d.Err = "the GPU is lost"
	}
	d.XidTotal, d.LastXid = total, last
}

// sharers are the processes on the GPU: the engine's, and another when the script says so.
func (w *world) sharers(s *probes.Sample) {
	if !w.has("gpu.other_") && !w.has("process.numa_") {
		return
	}
	gpu := s.GPU.Devices[0].UUID
	s.GPU.ProcessesAt = s.At
	s.GPU.Processes = []probes.GPUProcess{{GPU: gpu, PID: 4242, Name: "engine", MemoryBytes: probes.Some(70e9), KernelActiveRatio: probes.Some(0.5)}}
	if w.at("gpu.other_memory") > 0 {
		s.GPU.Processes = append(s.GPU.Processes, probes.GPUProcess{GPU: gpu, PID: 999, Name: "other", MemoryBytes: w.gauge("gpu.other_memory"), KernelActiveRatio: w.gauge("gpu.other_active")})
	}
	if s.Process == nil {
		s.Process = &probes.Process{At: s.At, PID: 4242, Name: "engine"}
	}
}

// sockets are connections, some of whose send queues do not empty.
func (w *world) sockets(s *probes.Sample) {
	s.Sockets = &probes.Sockets{At: s.At, Connections: probes.Some(20.0), SendQueueBytes: probes.Some(0.0)}
	for i := range min(int(w.at("socket.stuck")), 8) {
		s.Sockets.Full = append(s.Sockets.Full, probes.Connection{Endpoint: "http://engine", Peer: fmt.Sprintf("10.0.0.%d:40000", i+1), SendQueueBytes: 2 << 20, StuckSeconds: probes.Some(30.0)})
	}
}
