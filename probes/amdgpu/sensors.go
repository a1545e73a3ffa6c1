package amdgpu

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"llmtop/probes"
)

// Units of hwmon files (kernel documentation, hwmon/sysfs-interface).
const (
	micro = 1e-6 // µW
	milli = 1e-3 // m°C
)

// maxSensors is how many sensors of a kind are looked for.
const maxSensors = 8

// sensors are the hwmon files of a card. Which sensor is what its label says; that is
// looked up once.
type sensors struct {
	found bool
	dir   files
	names map[string]string // label, as in "temp junction" or "freq sclk", to the beginning of its files' names
}

func (s *sensors) find(f files) {
	dirs, err := os.ReadDir(filepath.Join(f.root, "hwmon"))
	if err != nil || len(dirs) == 0 {
		return
	}
	s.found, s.names = true, map[string]string{}
	s.dir = files{root: filepath.Join(f.root, "hwmon", dirs[0].Name()), read: f.read}
	for _, kind := range []string{"temp", "freq"} {
		for n := 1; n <= maxSensors; n++ {
			name := kind + strconv.Itoa(n)
			if label := s.dir.text(name + "_label"); label != "" {
				s.names[kind+" "+label] = name
			}
		}
	}
	if s.names["temp edge"] == "" && s.names["temp junction"] == "" { // old boards have one sensor, and no label
		s.names["temp edge"] = "temp1"
	}
}

// read reads power, temperatures and clocks.
func (s *sensors) read(f files, d *probes.GPUDevice) {
	if !s.found {
		s.find(f)
	}
	d.PowerWatts = s.number("power1_input", micro)
	if !d.PowerWatts.Seen() { // the mean over a time that is the firmware's
		d.PowerWatts = s.number("power1_average", micro)
	}
	d.PowerLimitWatts = s.number("power1_cap", micro)
	d.PowerDefaultWatts = s.number("power1_cap_default", micro)
	core := "temp edge"
	if s.names[core] == "" {
		core = "temp junction"
	}
	d.TemperatureCelsius = s.labelled(core, "_input", milli)
	d.TemperatureSlowdownCelsius = s.labelled(core, "_crit", milli)
	d.MemoryTemperatureCelsius = s.labelled("temp mem", "_input", milli)
	d.TemperatureMarginCelsius = s.margin()
	d.SMClockHertz = s.labelled("freq sclk", "_input", 1)
	d.MemoryClockHertz = s.labelled("freq mclk", "_input", 1)
}

// margin is how far the sensor that is nearest to its critical temperature is from it.
func (s *sensors) margin() probes.Opt[float64] {
	out := probes.None[float64](probes.NotExposed)
	for _, label := range []string{"temp edge", "temp junction", "temp mem"} {
		now, ok := s.labelled(label, "_input", milli).Get()
		crit, has := s.labelled(label, "_crit", milli).Get()
		if ok && has && crit > 0 {
			out = probes.Some(min(crit-now, out.Or(math.Inf(1))))
		}
	}
	return out
}

func (s *sensors) labelled(label, file string, unit float64) probes.Opt[float64] {
	name := s.names[label]
	if name == "" {
		return probes.None[float64](probes.NotExposed)
	}
	return s.number(name+file, unit)
}

func (s *sensors) number(name string, unit float64) probes.Opt[float64] {
	if !s.found {
		return probes.None[float64](probes.NotExposed)
	}
	return s.dir.number(name, unit)
}

// levels reads a file of clock levels, as in "1: 1200Mhz *": the one that is on and the
// highest, in Hz. A level of sleep has a letter for its number.
func levels(f files, name string) (now, most probes.Opt[float64]) {
	b, err := f.get(name)
	if err != nil {
		return probes.None[float64](why(err)), probes.None[float64](why(err))
	}
	for line := range strings.Lines(string(b)) {
		_, level, is := strings.Cut(line, ":")
		words := strings.Fields(level)
		if !is || len(words) == 0 {
			continue
		}
		mhz, ok := strings.CutSuffix(strings.ToLower(words[0]), "mhz")
		v, err := strconv.ParseFloat(mhz, 64)
		if !ok || err != nil || !(v >= 0 && v < 1e5) {
			continue
		}
		most = probes.Some(max(v*1e6, most.Or(0)))
		if words[len(words)-1] == "*" {
			now = probes.Some(v * 1e6)
		}
	}
	return now, most
}
