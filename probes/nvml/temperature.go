//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

const fieldMemoryTemperature = nvml.FI_DEV_MEMORY_TEMP

// temperatures of the GPU, and how far it is from slowing down. That margin is the driver's
// own reckoning over all its sensors; it may be below 0.
func (d *nvmlDevice) temperatures(r *reader, out *probes.GPUDevice) {
	h := d.handle
	out.TemperatureCelsius = r.number("nvmlDeviceGetTemperature", func() (uint32, nvml.Return) { return h.GetTemperature(nvml.TEMPERATURE_GPU) }, 1)
	if out.TemperatureCelsius.Why() == probes.Unsupported && !out.TemperatureCelsius.Seen() {
		var t nvml.Temperature
		ret := r.call("nvmlDeviceGetTemperatureV", func() (ret nvml.Return) { t, ret = h.GetTemperatureV().V1(); return })
		out.TemperatureCelsius = signed(t.Temperature, ret)
	}
	out.TemperatureCelsius = positive(out.TemperatureCelsius)
	var m nvml.MarginTemperature
	ret := r.call("nvmlDeviceGetMarginTemperature", func() (ret nvml.Return) { m, ret = h.GetMarginTemperature(); return })
	out.TemperatureMarginCelsius = signed(m.MarginTemperature, ret)
}

func signed(v int32, ret nvml.Return) probes.Opt[float64] {
	if ret != nvml.SUCCESS {
		return probes.None[float64](absence(ret))
	}
	return probes.Some(float64(v))
}

// slowdownThreshold is told by chips before Ada and some newer ones; where it is not, the
// margin is. The two are not converted into each other: the margin may be that of a sensor
// other than the one whose temperature is shown.
func (d *nvmlDevice) slowdownThreshold(r *reader) probes.Opt[float64] {
	return positive(r.number("nvmlDeviceGetTemperatureThreshold", func() (uint32, nvml.Return) {
		return d.handle.GetTemperatureThreshold(nvml.TEMPERATURE_THRESHOLD_SLOWDOWN)
	}, 1))
}
