package main

import (
	"fmt"
	"slices"
	"strings"

	"llmtop/probes"
)

// missing is something that cannot be read here, and what would give it.
type missing struct {
	What  string `json:"what"`
	Gives string `json:"gives,omitempty"`
}

// conclude works out what is broken and what is missing, each thing once.
func (r *doctorReport) conclude() {
	r.Broken = append(r.Broken, r.broken()...)
	if r.Sections.Simulated {
		r.Odd = append(r.Odd, "an engine is simulated: GPUs, host and processes below are simulated with it, and nothing was read of this host")
	}
	r.Odd = append(r.Odd, r.odd()...)
	for _, find := range []func(*doctorReport) []missing{
		noGPU, noActivity, gpuForbidden, oldDriver, noKernelLog, processForbidden, noProcess, hiddenProcesses, otherForbidden, inContainer, poorKernel, unreadableEngines,
	} {
		for _, m := range find(r) {
			if !slices.Contains(r.Missing, m) {
				r.Missing = append(r.Missing, m)
			}
		}
	}
}

// broken says what failed that should not.
func (r *doctorReport) broken() (list []string) {
	for _, p := range r.Probes {
		if p.State == probeFailed || p.State == probeHung {
			list = append(list, p.Name+": "+p.Error)
		}
	}
	g := r.Sections.GPU
	if g == nil {
		return list
	}
	if g.Note != "" && !r.isWithoutGPU(g.Note) {
		list = append(list, probes.Printable(g.Note, 400))
	}
	for i := range g.Devices {
		d := &g.Devices[i]
		if d.Err != "" {
			list = append(list, fmt.Sprintf("GPU %d: %s", d.Index, probes.Printable(d.Err, 300)))
		}
		damage := d.Damage()
		if action := int(d.RecoveryAction.Or(0)); action > 0 && action < len(probes.RecoveryActions) {
			damage = append(damage, "the driver asks to: "+probes.RecoveryActions[action])
		}
		if len(damage) > 0 {
			list = append(list, fmt.Sprintf("GPU %d: %s", d.Index, strings.Join(damage, ", ")))
		}
	}
	return list
}

// odd says what is not broken but not as it should be.
func (r *doctorReport) odd() (list []string) {
	if g := r.Sections.GPU; g != nil {
		for i := range g.Devices {
			d := &g.Devices[i]
			if troubles := d.Troubles()[len(d.Damage()):]; len(troubles) > 0 {
				list = append(list, fmt.Sprintf("GPU %d: %s", d.Index, strings.Join(troubles, ", ")))
			}
		}
	}
	return list
}

// isWithoutGPU tells a host without a GPU or its driver from one whose driver does not
// work, by what package nvml says of it.
func (r *doctorReport) isWithoutGPU(note string) bool {
	if strings.Contains(note, "lists no GPU") {
		_, given := r.Frame.may("/dev/nvidiactl")
		return !given || !r.hasNVIDIA()
	}
	return strings.Contains(note, "is not installed") || strings.Contains(note, "without NVML support")
}

// hasNVIDIA reports that there is hardware or a kernel driver.
func (r *doctorReport) hasNVIDIA() bool {
	_, there := r.Frame.may("/dev/nvidiactl")
	return there || r.Frame.Driver != "" || slices.ContainsFunc(r.Frame.PCI, func(s string) bool { return strings.Contains(s, " NVIDIA") })
}

func noGPU(r *doctorReport) []missing {
	g := r.Sections.GPU
	ofNVIDIA := func(d probes.GPUDevice) bool { return d.Source != probes.SourceAMDGPU }
	if !r.hasNVIDIA() || g == nil || slices.ContainsFunc(g.Devices, ofNVIDIA) {
		return nil
	}
	gives := "NVIDIA's driver with its library libnvidia-ml.so.1, loaded and of one version"
	if len(r.Frame.Container) > 0 {
		gives = "a container that was given the GPUs: --gpus all, with NVIDIA's container toolkit"
	}
	if may, there := r.Frame.may("/dev/nvidiactl"); there && may != "rw" {
		gives = "the right to read and write /dev/nvidiactl and /dev/nvidia*"
	}
	return []missing{{"GPU readings: there is an NVIDIA GPU here, and its driver does not answer", gives}}
}

// noActivity: utilisation says that a kernel ran, not how much of the GPU it used. What
// does say that needs GPM, which came with Hopper, or DCGM.
func noActivity(r *doctorReport) []missing {
	gpus := r.devicesWithout(probes.Unsupported, "sm_active_ratio", "dram_active_ratio")
	if len(gpus) == 0 {
		return nil
	}
	return []missing{{"how much of the SMs and of the memory bandwidth is in use, on " + gpuList(gpus) + ": the device or its driver has no GPM",
		"dcgm-exporter on this host (port 9400) with DCGM_FI_PROF_SM_ACTIVE and DCGM_FI_PROF_DRAM_ACTIVE in its list of counters"}}
}

// devicesWithout lists devices that lack all these readings for a reason.
func (r *doctorReport) devicesWithout(why probes.Absence, names ...string) (gpus []int) {
	if r.Sections.GPU == nil {
		return nil
	}
	for i := range r.Sections.GPU.Devices {
		d := &r.Sections.GPU.Devices[i]
		lacking := 0
		for _, row := range probes.GPUReadings {
			if o := row.Of(d); slices.Contains(names, row.Name) && !o.Seen() && o.Why() == why {
				lacking++
			}
		}
		if lacking == len(names) && !d.MIG && d.Source != probes.SourceAMDGPU && !slices.Contains(gpus, d.Index) {
			gpus = append(gpus, d.Index)
		}
	}
	return gpus
}

func gpuList(gpus []int) string {
	if len(gpus) == 1 {
		return fmt.Sprintf("GPU %d", gpus[0])
	}
	return "GPUs " + numbers(gpus)
}

func gpuForbidden(r *doctorReport) []missing {
	if r.Sections.GPU == nil {
		return nil
	}
	var names []string
	var gpus []int
	for i := range r.Sections.GPU.Devices {
		d := &r.Sections.GPU.Devices[i]
		if list := forbidden(gpuReadings(d)); len(list) > 0 {
			names, gpus = append(names, list...), append(gpus, d.Index)
		}
	}
	if len(names) == 0 {
		return nil
	}
	gives := "root, or the right to use /dev/nvidia*"
	if len(r.Frame.Container) > 0 {
		gives += "; in a container, for a GPU that is divided (MIG), NVIDIA_MIG_MONITOR_DEVICES=all"
	}
	return []missing{{fmt.Sprintf("%s of %s: no permission", some(names), gpuList(slices.Compact(gpus))), gives}}
}

// forbidden are the names of readings that this user may not make.
func forbidden(list []shown) (names []string) {
	for _, s := range list {
		if s.absent == probes.NoPermission.String() {
			names = append(names, s.name)
		}
	}
	return names
}

// some names a few and counts the others.
func some(names []string) string {
	const most = 6
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// oldDriver names the functions that the driver lacks.
func oldDriver(r *doctorReport) []missing {
	var names []string
	for _, c := range r.Calls {
		if c.Result == "the driver has no such function" {
			names = append(names, strings.TrimPrefix(c.Symbol, "nvml"))
		}
	}
	if len(names) == 0 {
		return nil
	}
	driver := "the NVIDIA driver"
	if g := r.Sections.GPU; g != nil && g.Driver != "" {
		driver += " " + g.Driver
	}
	return []missing{{driver + " does not have " + some(names), "a newer driver, if what they tell is missing above; others may stand in for them"}}
}

func noKernelLog(r *doctorReport) []missing {
	if may, _ := r.Frame.may("/dev/kmsg"); may != "" || !r.hasNVIDIA() {
		return nil
	}
	gives := "root or CAP_SYSLOG, or kernel.dmesg_restrict=0"
	if _, there := r.Frame.may("/dev/kmsg"); !there {
		gives = "/dev/kmsg of the host in the container (--device /dev/kmsg)"
	}
	return []missing{{"GPU errors that only the kernel's log tells, as of a GPU that fell off the bus: /dev/kmsg is not readable", gives}}
}

// processForbidden: the kernel shows files and I/O of a process to its user and root alone.
func processForbidden(r *doctorReport) []missing {
	p := r.Sections.Process
	if p == nil {
		return nil
	}
	names := forbidden(readingsOf(p))
	for i := range p.Members {
		names = append(names, forbidden(readingsOf(&p.Members[i]))...)
	}
	for i := range p.BusyThreads {
		names = append(names, forbidden(readingsOf(&p.BusyThreads[i]))...)
	}
	if len(names) == 0 {
		return nil
	}
	who := "its user or root"
	for _, e := range r.Engines {
		if e.PID == p.PID && e.User == "root" {
			who = e.User
		} else if e.PID == p.PID && e.User != "" {
			who = e.User + " or root"
		}
	}
	return []missing{{some(names) + " of an engine of another user", "llmtop as " + who}}
}

// noProcess: an engine is read whose process is not to be seen.
func noProcess(r *doctorReport) []missing {
	i := slices.IndexFunc(r.Probes, func(p probeReport) bool { return strings.HasPrefix(p.Name, "scrape") && p.State == probeOK })
	if r.Sections.Process != nil || i < 0 {
		return nil
	}
	return []missing{{"CPU, memory and threads of the engine: its process is not known here", "llmtop on the engine's host, as root when the engine is another user's or in a container"}}
}

func hiddenProcesses(r *doctorReport) []missing {
	hidden := r.Frame.set("hidepid")
	if hidden == "" || hidden == "0" || slices.Contains(r.Frame.Capabilities, "CAP_SYS_PTRACE") {
		return nil
	}
	return []missing{{"processes of other users, engines and neighbours: /proc is mounted with hidepid=" + hidden, "root, or membership in the group of the mount's option gid="}}
}

// otherForbidden are readings of the machine, the neighbours and the connections.
func otherForbidden(r *doctorReport) []missing {
	var names []string
	if h := r.Sections.Host; h != nil {
		names = append(names, forbidden(readingsOf(h))...)
	}
	if s := r.Sections.Sockets; s != nil {
		names = append(names, forbidden(readingsOf(s))...)
	}
	if n := r.Sections.Neighbours; n != nil {
		for i := range n.List {
			names = append(names, forbidden(readingsOf(&n.List[i]))...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []missing{{some(names) + ": no permission", "root"}}
}

func inContainer(r *doctorReport) (list []missing) {
	if slices.Contains(r.Frame.Container, "pid namespace") {
		list = append(list, missing{"processes outside this container, among them the names of those that use the GPUs", "the host's PID namespace (--pid=host), or llmtop on the host"})
	}
	if slices.Contains(r.Frame.Container, "cgroup namespace") {
		list = append(list, missing{"limits and throttling of the control groups above this container", "llmtop on the host, or the host's cgroup namespace (--cgroupns=host)"})
	}
	return list
}

// poorKernel: what the kernel was built or booted without.
func poorKernel(r *doctorReport) (list []missing) {
	if r.Frame.set("psi") == "no" {
		list = append(list, missing{"pressure: how long tasks wait for CPU, memory and disks", "a kernel with CONFIG_PSI, on some booted with psi=1"})
	}
	if r.Frame.set("schedstat") == "no" {
		list = append(list, missing{"how long the engine's threads wait for a core", "a kernel with CONFIG_SCHED_INFO (or CONFIG_SCHEDSTATS)"})
	}
	return list
}

func unreadableEngines(r *doctorReport) (list []missing) {
	for _, e := range r.Engines {
		if e.Missing != "" {
			list = append(list, missing{e.Missing, e.Next})
		}
	}
	return list
}
