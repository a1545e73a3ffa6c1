package dcgm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// prefix is how the names of DCGM's fields begin.
const prefix = "DCGM_FI_"

// maxDevices bounds the devices and instances taken from a page; no host has as many.
const maxDevices = 256

// key says what a series is of.
type key struct {
	uuid string // of the device, also for an instance
	slot string // of a MIG instance: its number on the device
}

// entity is a device or a MIG instance as the page tells of it.
type entity struct {
	key
	series  *probes.Series // the first about it: its labels say what it is
	divided bool           // the page has instances of it
	values  map[string]probes.Opt[float64]
}

// devices are those that a page tells of, each followed by its MIG instances. Labels of
// pods are no part of an identity: where several pods share a device the page tells its
// readings several times.
func devices(page *probes.Scrape) *probes.GPU {
	g := &probes.GPU{At: page.At}
	for _, e := range gather(page) {
		if g.Driver == "" {
			g.Driver = probes.Printable(first(e.series, "DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION"), 40)
		}
		g.Devices = append(g.Devices, e.device())
	}
	return g
}

// gather collects the values by what they are of: devices in the order of their numbers,
// each before its instances.
func gather(page *probes.Scrape) []*entity {
	found := entities{byKey: map[key]*entity{}}
	for i := range page.Schema.Series {
		s := &page.Schema.Series[i]
		name, is := strings.CutPrefix(s.Name, prefix)
		uuid := first(s, "UUID", "uuid")
		if !is || uuid == "" || i >= len(page.Values) {
			continue // of a switch, a link or a CPU
		}
		whole, v := found.of(s, key{uuid: uuid}), value(page.Values[i])
		slot := s.Label("GPU_I_ID")
		switch {
		case slot == "":
			whole.take(name, v)
		case ofInstances(name):
			whole.divided = true
			found.of(s, key{uuid, slot}).take(name, v)
		default: // told with each instance, a little later each time
			whole.divided = true
			if _, had := whole.values[name]; !had {
				whole.take(name, v)
			}
		}
	}
	slices.SortStableFunc(found.list, func(a, b *entity) int {
		return cmp.Or(cmp.Compare(a.index(), b.index()), strings.Compare(a.uuid, b.uuid), cmp.Compare(a.number(), b.number()))
	})
	return found.list
}

// entities are those of a page.
type entities struct {
	byKey map[key]*entity
	list  []*entity
}

// of finds the entity of a series, and takes it in when it is new and there is room.
func (f *entities) of(s *probes.Series, k key) *entity {
	e := f.byKey[k]
	if e == nil {
		e = &entity{key: k, series: s, values: map[string]probes.Opt[float64]{}}
		if len(f.list) < maxDevices {
			f.byKey[k] = e
			f.list = append(f.list, e)
		}
	}
	return e
}

// take keeps a value. Where the page has several that differ, each is of a process or a
// pod, and there is none of the device.
func (e *entity) take(name string, v probes.Opt[float64]) {
	if was, had := e.values[name]; had && was != v {
		v = probes.None[float64](probes.NotExposed)
	}
	e.values[name] = v
}

// get is the value of a field under the first of its names that the page has.
func (e *entity) get(names ...string) probes.Opt[float64] {
	for _, name := range names {
		if v, had := e.values[name]; had {
			return v
		}
	}
	return probes.None[float64](probes.NotExposed)
}

// index is the number of the device on its host.
func (e *entity) index() int { return number(e.series.Label("gpu")) }

// number is that of a MIG instance on its device, -1 of a whole device.
func (e *entity) number() int {
	if e.slot == "" {
		return -1
	}
	return number(e.slot)
}

// number reads a small number, 0 where there is none.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// first is the first of some labels that is there.
func first(s *probes.Series, labels ...string) string {
	for _, l := range labels {
		if v := s.Label(l); v != "" {
			return v
		}
	}
	return ""
}

// device is the entity with all its readings.
func (e *entity) device() probes.GPUDevice {
	d := probes.GPUDevice{
		Index: e.index(), UUID: probes.Printable(e.uuid, 100), Name: probes.Printable(first(e.series, "modelName", "model_name"), 100),
		Source: probes.SourceDCGM, PCIAddress: pciAddress(e.series.Label("pci_bus_id")), MIG: e.divided || e.get("DEV_MIG_MODE").Or(0) == 1,
	}
	if e.slot != "" {
		d.Parent, d.UUID = d.UUID, d.UUID+"/"+strconv.Itoa(e.number())
		d.Instance, d.InstanceID, d.MIG = probes.Printable(e.series.Label("GPU_I_PROFILE"), 40), probes.Some(uint64(e.number())), false
		d.Name += " MIG " + d.Instance
	}
	e.read(&d)
	if d.SMActiveRatio.Seen() || d.DRAMActiveRatio.Seen() || d.TensorActiveRatio.Seen() {
		d.ActivityFrom = probes.SourceDCGM
	}
	return d
}

// pciAddress is an address with a domain of four digits, as the kernel writes it.
func pciAddress(s string) string {
	s = strings.ToLower(probes.Printable(s, 20))
	if len(s) == len("00000000:00:00.0") {
		s = strings.TrimPrefix(s, "0000")
	}
	return s
}
