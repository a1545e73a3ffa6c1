package host

import "testing"

func TestHypervisor(t *testing.T) {
	const guest, metal, arm = "processor: 0\nflags: fpu hypervisor\n", "processor: 0\nflags: fpu vmx\n", "processor: 0\nFeatures: fp asimd\n"
	const clock = "sys/devices/system/clocksource/clocksource0/available_clocksource"
	for _, c := range []struct {
		name, cpuinfo, vendor, product, clocks, want string
	}{
		{"nothing to read", "", "", "", "", ""},
		{"a machine that runs virtual ones", metal, "Supermicro", "SYS-821GE", "tsc hpet", ""},
		{"a metal instance", metal, "Amazon EC2", "p5.metal", "tsc", ""},
		{"by its clock", guest, "", "", "kvm-clock tsc", "kvm"},
		{"Azure", guest, "Microsoft Corporation", "Virtual Machine", "hyperv_clocksource_tsc_page acpi_pm", "hyperv"},
		{"Azure by its board", guest, "Microsoft Corporation", "Virtual Machine", "tsc", "hyperv"},
		{"Google", guest, "Google", "Google Compute Engine", "tsc", "kvm"},
		{"VMware", guest, "VMware, Inc.", "VMware7,1", "tsc", "vmware"},
		{"emulated", guest, "QEMU", "Standard PC", "tsc", "qemu"},
		{"one that does not tell", guest, "ACME", "Box", "tsc", "unknown"},
		{"Graviton", arm, "Amazon EC2", "g5g.xlarge", "arch_sys_counter", "kvm"},
		{"Graviton metal", arm, "Amazon EC2", "g5g.metal", "arch_sys_counter", ""},
		{"Grace", arm, "NVIDIA", "Grace Hopper", "arch_sys_counter", ""},
	} {
		root := t.TempDir()
		put(t, root, "proc/cpuinfo", c.cpuinfo)
		put(t, root, "sys/class/dmi/id/sys_vendor", c.vendor+"\n")
		put(t, root, "sys/class/dmi/id/product_name", c.product+"\n")
		put(t, root, clock, c.clocks+"\n")
		if got := hypervisor(root); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	root := t.TempDir()
	put(t, root, "proc/cpuinfo", guest)
	put(t, root, "sys/hypervisor/type", "xen\n")
	if got := hypervisor(root); got != "xen" {
		t.Errorf("Xen: %q", got)
	}
}
