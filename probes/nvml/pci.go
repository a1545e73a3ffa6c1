package nvml

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"llmtop/probes"
)

// pciKey brings the spellings of a device's address on the PCI bus to one: NVML writes
// "00000000:5E:00.0", the kernel "0000:5e:00.0", the driver in the kernel's log
// "0000:5e:00". What is no address is none.
func pciKey(address string) (string, bool) {
	address, _, _ = strings.Cut(address, ".")
	var domain, bus, slot uint32
	var rest string
	n, _ := fmt.Sscanf(address, "%x:%x:%x%s", &domain, &bus, &slot, &rest)
	if n != 3 || bus > 0xff || slot > 0x1f || len(address) > len("00000000:00:00") {
		return "", false
	}
	return fmt.Sprintf("%04x:%02x:%02x", domain, bus, slot), true
}

// deviceKey is what the errors of a device are counted under.
func deviceKey(d probes.GPUDevice) string {
	if key, ok := pciKey(d.PCIAddress); ok {
		return key
	}
	if d.UUID != "" {
		return d.UUID
	}
	return fmt.Sprint(d.Index)
}

// slumber knows where the kernel says whether a device is suspended. Asking the kernel does
// not wake it; any question to the driver would.
type slumber struct {
	address, file string // file is "" when the address is none
	buf           []byte
}

// at says whether the kernel has suspended the device at an address.
func (s *slumber) at(root, address string) bool {
	if s.address != address {
		s.address, s.file = address, ""
		if key, ok := pciKey(address); ok {
			s.file = filepath.Join(root, "sys/bus/pci/devices", key+".0", "power/runtime_status")
		}
	}
	if s.file == "" {
		return false
	}
	status, err := probes.ReadKernelFile(s.file, s.buf, 64)
	if err != nil {
		return false
	}
	s.buf = status
	return string(bytes.TrimSpace(status)) == "suspended"
}
