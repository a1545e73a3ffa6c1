package host

import (
	"path/filepath"
	"slices"
	"strings"

	"llmtop/probes"
)

// clocks are those that hypervisors offer to their guests.
var clocks = []struct{ prefix, hypervisor string }{{"kvm-clock", "kvm"}, {"hyperv_clocksource", "hyperv"}, {"xen", "xen"}}

// boards are words in what a virtual machine's firmware says of maker and product.
var boards = []struct{ word, hypervisor string }{
	{"KVM", "kvm"}, {"QEMU", "qemu"}, {"VMware", "vmware"}, {"VirtualBox", "virtualbox"}, {"Xen", "xen"}, {"Parallels", "parallels"},
	{"Microsoft Corporation Virtual Machine", "hyperv"}, {"Amazon EC2", "kvm"}, {"Google Compute Engine", "kvm"}, {"OpenStack", "kvm"}, {"Alibaba Cloud ECS", "kvm"},
}

// hypervisor names the one that the machine below root runs on, "unknown" when there is
// one that says no more, "" when there is none. Containers are none. On x86 the processor
// tells whether there is one; elsewhere only the firmware does.
func hypervisor(root string) string {
	at := func(path string) string { return line(filepath.Join(root, path)) }
	flags, isX86 := processorFlags(filepath.Join(root, "proc/cpuinfo"))
	if isX86 && !slices.Contains(flags, "hypervisor") {
		return ""
	}
	for _, clock := range strings.Fields(at("sys/devices/system/clocksource/clocksource0/available_clocksource")) {
		for _, c := range clocks {
			if strings.HasPrefix(clock, c.prefix) {
				return c.hypervisor
			}
		}
	}
	board := at("sys/class/dmi/id/sys_vendor") + " " + at("sys/class/dmi/id/product_name")
	if strings.HasSuffix(board, ".metal") || strings.Contains(board, ".metal-") { // of Amazon's, those without one
		return ""
	}
	for _, b := range boards {
		if strings.Contains(board, b.word) {
			return b.hypervisor
		}
	}
	if at("sys/hypervisor/type") == "xen" {
		return "xen"
	}
	if isX86 {
		return "unknown"
	}
	return ""
}

// processorFlags are those of the first core. The file has a page for each core, and
// takes the kernel long to write: it is read no further.
func processorFlags(cpuinfo string) (flags []string, isX86 bool) {
	first, err := readHead(cpuinfo, make([]byte, 8<<10))
	if err != nil {
		return nil, false
	}
	flags = strings.Fields(after(string(first), "flags", ":"))
	return flags, len(flags) > 0
}

// kernelRelease is the kernel's, as uname -r says.
func kernelRelease(root string) string {
	return probes.Printable(line(filepath.Join(root, "proc/sys/kernel/osrelease")), 100)
}
