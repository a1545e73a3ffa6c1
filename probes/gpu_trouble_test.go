package probes

import (
	"strings"
	"testing"
)

func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		device         GPUDevice
		damage, others string
	}{
		{GPUDevice{}, "", ""},
		{GPUDevice{XidTotal: Some(uint64(0)), ThrottleBits: Some(ThrottleIdle | ThrottleAppClocks), PCIeWidth: Some(16.0), PCIeWidthMax: Some(16.0), PCIeGeneration: Some(1.0), PCIeGenerationMax: Some(5.0)}, "", ""},
		{GPUDevice{XidTotal: Some(uint64(2)), LastXid: Some(uint64(63)), ECCUncorrectedTotal: Some(1.0), ThrottleBits: Some(ThrottleHWSlowdown | ThrottlePowerBrake)}, "Xid 63, memory errors", "power brake"},
		{GPUDevice{XidTotal: Some(uint64(1)), ThrottleBits: Some(ThrottleHWSlowdown)}, "Xid", "slowdown"},
		{GPUDevice{ThrottleBits: Some(ThrottleHWSlowdown | ThrottleHWThermal | ThrottlePowerCap), RemapPending: Some(1.0)}, "", "heat, power cap, row to remap"},
		{GPUDevice{PCIeWidth: Some(4.0), PCIeWidthMax: Some(16.0)}, "", "PCIe ×4 of ×16"},
		{GPUDevice{PCIeWidth: Some(4.0), PCIeWidthMax: Some(16.0), PCIeGeneration: Some(1.0), PCIeGenerationMax: Some(5.0), KernelActiveRatio: Some(0.9)}, "", "PCIe gen 1 ×4 of gen 5 ×16"},
		{GPUDevice{PCIeGeneration: Some(3.0), PCIeGenerationMax: Some(4.0), KernelActiveRatio: Some(0.9), NVLinksActive: Some(16.0), NVLinksTotal: Some(18.0)}, "", "PCIe gen 3 of 4, 2 NVLinks down"},
		{GPUDevice{NVLinksActive: Some(0.0), NVLinksTotal: Some(18.0)}, "", ""}, // nothing is plugged in
	} {
		all := c.damage
		if all != "" && c.others != "" {
			all += ", "
		}
		all += c.others
		if got := strings.Join(c.device.Troubles(), ", "); got != all || strings.Join(c.device.Damage(), ", ") != c.damage {
			t.Errorf("%q, damage %q, want %q and %q", got, c.device.Damage(), all, c.damage)
		}
	}
}
