package record

import "llmtop/probes"

// rule is what is done with a text. What it is called is said in the summary.
type rule struct {
	what string
	keep func(x *redactor, s string) bool // harmless as it is; nil: never
	hash func(x *redactor, s string) string
}

// dropped is what stands for a text of which only that it was there is kept.
const dropped = "[dropped]"

var (
	endpointRule = rule{"endpoints", nil, (*redactor).endpoint}
	freeText     = rule{"free texts (errors, events, notes)", nil, nil}
	processNames = rule{"names of processes", nil, (*redactor).hashed}
	cpuLists     = rule{"lists of cores", keepShape(cpuListShape), nil}
	ruleOfMarks  = rule{"texts of marks", func(x *redactor, _ string) bool { return x.options.KeepMarks }, nil}
)

// fieldRules decides on every text of a recording. TestEveryTextIsClassified holds it
// against the types; a text that is not listed is dropped.
var fieldRules = map[string]rule{
	"Event.Kind":       {"kinds of events", keepWords(probes.EventKinds...), (*redactor).hashed},
	"Event.Text":       freeText,
	"ProbeStatus.Name": {"names of probes", keepWords(probeNames...), (*redactor).probe},
	"ProbeStatus.Err":  freeText,

	"Sample.SimulatedEngines": endpointRule,

	"Scrape.Endpoint":   endpointRule,
	"Requests.Endpoint": endpointRule,
	"Profile.Endpoint":  endpointRule,

	"Request.ID":     {"request ids", nil, (*redactor).long},
	"Request.Class":  {"classes of requests", keepWords("realtime", "normal", "background"), (*redactor).hashed},
	"Request.State":  {"states of requests", keepWords(append(probes.StageNames[:], "finished")...), (*redactor).hashed},
	"Request.Finish": {"finish reasons", keepWords(finishWords...), (*redactor).hashed},

	"EngineConfig.Endpoint": endpointRule,
	"EngineConfig.Dialect":  {"dialects", keepWords(probes.Dialects...), (*redactor).hashed},
	"EngineConfig.Version":  {"versions of engines", keepShape(versionShape), (*redactor).hashed},
	"Fact.Name":             {"names of settings", keepWords(probes.FactNames...), (*redactor).hashed},
	"Fact.Value":            {"values of settings", keepShape(numberShape), (*redactor).hashed},
	"Fact.Source":           {"sources of settings", nil, nil},
	"Rank.Name":             {"ranks", keepShape(rankShape), (*redactor).hashed},
	"EngineLog.Source":      {"names of logs", nil, nil},
	"EngineLog.Dialect":     {"dialects", keepWords(probes.Dialects...), (*redactor).hashed},
	"LogCount.Kind":         {"kinds of log lines", keepWords(probes.LogKinds...), (*redactor).hashed},
	"LogNumber.Name":        {"names of numbers in log lines", keepWords(probes.LogNumberNames...), (*redactor).hashed},
	"Canary.Endpoint":       endpointRule,
	"Canary.Err":            freeText,

	"Process.Name":        processNames,
	"Process.CgroupPath":  {"paths of cgroups", nil, (*redactor).hashed},
	"Member.Name":         processNames,
	"Member.Rank":         {"ranks", keepShape(rankShape), (*redactor).hashed},
	"Member.Endpoint":     endpointRule,
	"Member.AllowedCPUs":  cpuLists,
	"Thread.Name":         {"names of threads", nil, (*redactor).hashed},
	"Thread.State":        {"states of threads", keepWords("R", "S", "D", "T", "t", "Z", "X", "I"), nil},
	"Neighbour.Name":      processNames,
	"Neighbour.User":      {"users", keepWords("root"), (*redactor).hashed},
	"Connection.Endpoint": endpointRule,
	"Connection.Peer":     {"addresses of clients", nil, (*redactor).hashed},

	"Host.Kernel":      {"versions of kernels", nil, (*redactor).hashed},
	"Host.Virtual":     {"hypervisors", keepWords("kvm", "qemu", "vmware", "xen", "hyperv", "virtualbox", "parallels", "unknown"), (*redactor).hashed},
	"NUMANode.CPUs":    cpuLists,
	"Disk.Name":        {"names of disks", keepShape(diskShape), (*redactor).hashed},
	"Filesystem.Mount": {"mount points", keepWords("/", "/tmp", "/dev/shm"), (*redactor).hashed},
	"NIC.Name":         {"names of network interfaces", keepShape(nicShape), (*redactor).hashed},
	"NIC.Kind":         {"kinds of network interfaces", keepWords("ethernet", "infiniband", "virtual"), (*redactor).hashed},

	"GPU.Driver":             {"versions of drivers", keepShape(versionShape), (*redactor).hashed},
	"GPU.Note":               freeText,
	"GPU.KernelLog":          freeText,
	"GPUDevice.UUID":         {"GPU UUIDs", nil, (*redactor).uuid},
	"GPUDevice.Name":         {"GPU models", func(_ *redactor, s string) bool { return isGPUModel(s) }, (*redactor).hashed},
	"GPUDevice.Err":          freeText,
	"GPU.CUDA":               {"versions of CUDA", keepShape(versionShape), (*redactor).hashed},
	"GPUDevice.Source":       {"sources of GPU readings", keepWords(gpuSources...), (*redactor).hashed},
	"GPUDevice.ActivityFrom": {"sources of GPU readings", keepWords(gpuSources...), (*redactor).hashed},
	"GPUDevice.PCIAddress":   {"PCI addresses", keepShape(pciShape), nil},
	"GPUDevice.Architecture": {"GPU architectures", keepShape(architectureShape), nil},
	"GPUDevice.Instance":     {"MIG profiles", keepShape(migShape), nil},
	"GPUDevice.Parent":       {"GPU UUIDs", nil, (*redactor).uuid},
	"GPUDevice.Virtual":      {"kinds of virtualisation", keepWords("passthrough", "vgpu", "host-vgpu", "host-vsga"), nil},
	"GPUDevice.CPUs":         cpuLists,
	"GPUProcess.GPU":         {"GPU UUIDs", nil, (*redactor).uuid},
	"GPUProcess.Name":        processNames,
	"GPULink.Kind":           {"kinds of links between GPUs", keepShape(linkShape), nil},

	"Manifest.Format":  {"versions of the format", keepShape(versionShape), nil},
	"Manifest.Version": {"versions of llmtop", keepShape(versionShape), nil},
	"Manifest.Host":    {"host names", nil, (*redactor).hashed},
	"Manifest.OS":      {"operating systems", func(_ *redactor, s string) bool { return isSystem(s) }, nil},
	"Manifest.CPU":     {"CPU models", nil, (*redactor).hashed},

	"Finding.State": {"states of findings", keepWords("healthy", "degraded", "unknown", "unmeasurable"), (*redactor).hashed},
	"Finding.Cause": {"causes of findings", func(x *redactor, s string) bool { return x.options.Cause(s) }, (*redactor).hashed},
	"Finding.Line":  {"words of findings", nil, nil},
	"Mark.Text":     ruleOfMarks,
	"Gap.Reason":    {"reasons of gaps", keepWords("the disk does not keep up"), nil},
}

// gpuSources are where readings of a GPU come from.
var gpuSources = []string{"nvml", "gpm", "dcgm", "amdgpu"}

var finishWords = []string{"stop", "length", "abort", "error", "repetition", "rejected", "tool_calls", "cancelled", "timeout"}

// text is what stands for a text in the copy. The empty text stays.
func (x *redactor) text(field, s string) string {
	if s == "" {
		return s
	}
	r, ok := fieldRules[field]
	if !ok {
		r = freeText
	}
	return x.apply(r, s)
}

func (x *redactor) apply(r rule, s string) string {
	if r.keep != nil && r.keep(x, s) {
		x.count(r.what, "kept", s)
		return s
	}
	if r.hash == nil {
		x.count(r.what, "dropped", s)
		return dropped
	}
	to, done := r.hash(x, s), "hashed"
	switch {
	case to == s: // it says nothing: a loopback address
		done = "kept"
	case x.options.Drop:
		done = "dropped"
	}
	x.count(r.what, done, s)
	return to
}

func keepWords(words ...string) func(*redactor, string) bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return func(_ *redactor, s string) bool { return set[s] }
}
