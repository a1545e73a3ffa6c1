package amdgpu

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

// readRare reads what changes rarely or is dear, every half minute, and repeats it between.
func (c *card) readRare(now time.Time, d *probes.GPUDevice) {
	if c.rareAt.IsZero() || now.Sub(c.rareAt) >= rareEvery {
		c.rareAt = now
		c.rare = probes.GPUDevice{
			PCIeGeneration: generation(c.link.text("current_link_speed")), PCIeGenerationMax: generation(c.link.text("max_link_speed")),
			PCIeWidth: lanes(c.link.number("current_link_width", 1)), PCIeWidthMax: lanes(c.link.number("max_link_width", 1)),
			PCIeReplaysTotal: c.files.number("pcie_replay_count", 1),
		}
		_, c.rare.SMClockMaxHertz = levels(c.files, "pp_dpm_sclk")
		_, c.rare.MemoryClockMaxHz = levels(c.files, "pp_dpm_mclk")
		c.rare.ECCCorrectedTotal, c.rare.ECCUncorrectedTotal = errorCounts(c.files)
	}
	for _, of := range rareReadings {
		*of(d) = *of(&c.rare)
	}
	if !d.SMClockHertz.Seen() {
		d.SMClockHertz, _ = levels(c.files, "pp_dpm_sclk")
	}
	if !d.MemoryClockHertz.Seen() {
		d.MemoryClockHertz, _ = levels(c.files, "pp_dpm_mclk")
	}
}

var rareReadings = [...]func(*probes.GPUDevice) *probes.Opt[float64]{
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeGeneration },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeGenerationMax },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeWidth },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeWidthMax },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeReplaysTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMClockMaxHertz },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryClockMaxHz },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ECCCorrectedTotal },
	func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ECCUncorrectedTotal },
}

// generation is that of a link speed, as in "16.0 GT/s PCIe".
func generation(speed string) probes.Opt[float64] {
	rate, _, _ := strings.Cut(speed, " ")
	for i, of := range []string{"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"} {
		if rate == of || rate+".0" == of {
			return probes.Some(float64(i + 1))
		}
	}
	return probes.None[float64](probes.NotExposed) // "Unknown", or no such file
}

// lanes is a link's width: 0 and 255 are how the kernel says that it does not know.
func lanes(v probes.Opt[float64]) probes.Opt[float64] {
	if n, ok := v.Get(); ok && !(n >= 1 && n <= 32) {
		return probes.None[float64](probes.NotExposed)
	}
	return v
}

// errorCounts are those of the memory since the driver was loaded.
func errorCounts(f files) (corrected, uncorrected probes.Opt[float64]) {
	b, err := f.get("ras/umc_err_count")
	if err != nil {
		none := probes.None[float64](why(err))
		return none, none
	}
	for line := range bytes.Lines(b) {
		kind, count, _ := bytes.Cut(line, []byte(":"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(count)), 10, 64)
		switch {
		case err != nil: // "Query currently inaccessible"
		case string(kind) == "ce":
			corrected = probes.Some(float64(n))
		case string(kind) == "ue":
			uncorrected = probes.Some(float64(n))
		}
	}
	return corrected, uncorrected
}
