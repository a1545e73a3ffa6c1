//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

const (
	fieldPowerAverage = nvml.FI_DEV_POWER_AVERAGE
	fieldPowerInstant = nvml.FI_DEV_POWER_INSTANT
	fieldEnergy       = nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION
)

// powerFields are asked of scope 0, the GPU; scope 1 would be a module with its CPU.
var powerFields = []uint32{fieldPowerInstant, fieldPowerAverage}

// power now, over a second, and the energy. Drivers that do not have the fields give one
// number by nvmlDeviceGetPowerUsage, whose meaning depends on the chip: the average of a
// second on Ampere and newer, power now on GA100 (A100, A30) and older (nvml.h).
func (d *nvmlDevice) power(r *reader, out *probes.GPUDevice) {
	f := &d.fields
	out.PowerWatts = positive(f.of(fieldPowerInstant).opt(1e-3))
	out.PowerAverageWatts = positive(f.of(fieldPowerAverage).opt(1e-3))
	if !out.PowerWatts.Seen() {
		out.PowerWatts = positive(r.number("nvmlDeviceGetPowerUsage", d.handle.GetPowerUsage, 1e-3))
		if !out.PowerAverageWatts.Seen() && d.board.averagesPower() {
			out.PowerAverageWatts = out.PowerWatts
		}
	}
	out.EnergyJoulesTotal = f.of(fieldEnergy).opt(1e-3)
	if !out.EnergyJoulesTotal.Seen() {
		out.EnergyJoulesTotal = r.long("nvmlDeviceGetTotalEnergyConsumption", 0, d.handle.GetTotalEnergyConsumption, 1e-3)
	}
	out.EnergyJoulesTotal = positive(out.EnergyJoulesTotal)
}
