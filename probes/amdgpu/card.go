package amdgpu

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"llmtop/probes"
)

// staleAfter is the age at which readings no longer stand for now.
const staleAfter = 3 * time.Second

// card is one GPU. A goroutine reads it when asked, never two at a time.
type card struct {
	number int
	files  files // of the device

	mu     sync.Mutex
	answer chan struct{} // of the question that is out; nil: none is
	asked  time.Time
	latest probes.GPUDevice

	// The reader's own.
	sensors sensors
	fixed   probes.GPUDevice // what does not change
	link    files            // of the device at the slot
	rareAt  time.Time
	rare    probes.GPUDevice // what changes rarely
	metrics metrics
}

func newCard(number int, f files) *card {
	return &card{number: number, files: f, latest: probes.GPUDevice{Source: probes.SourceAMDGPU}}
}

// ask reads the card, unless it is being read, and returns what is closed at the end.
func (c *card) ask(now time.Time) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer == nil {
		c.answer, c.asked = make(chan struct{}), now
		go c.answerAt(now)
	}
	return c.answer
}

func (c *card) answerAt(now time.Time) {
	d := c.read(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = d
	close(c.answer)
	c.answer = nil
}

// at is the card as known at now: its last readings while they stand.
func (c *card) at(now time.Time) probes.GPUDevice {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.latest
	if waiting := now.Sub(c.asked); c.answer != nil && waiting > staleAfter {
		d.Err = fmt.Sprintf("no answer from the driver for %.0f s", waiting.Seconds())
		return d.WithoutReadings(probes.Stale)
	}
	return d
}

// read reads everything. A card whose files have gone keeps its name.
func (c *card) read(now time.Time) probes.GPUDevice {
	if c.fixed.UUID == "" {
		c.identify()
	}
	d := c.fixed
	d.At = probes.Stamp(now)
	if _, err := c.files.get("vendor"); err != nil {
		d.At, d.Err = c.last(), "the GPU is gone: the driver no longer lists it"
		return d.WithoutReadings(probes.Lost)
	}
	switch c.files.text("power/runtime_status") {
	case "suspended", "suspending", "resuming": // any other file would wake it
		return d.WithoutReadings(probes.Stale)
	}
	d = d.WithoutReadings(probes.Unsupported)
	c.readActivity(&d)
	c.sensors.read(c.files, &d)
	c.readRare(now, &d)
	c.metrics.read(c.files, &d)
	if bits, ok := d.ThrottleBits.Get(); ok && d.KernelActiveRatio == probes.Some(0.0) { // its clocks are low because it has nothing to do
		d.ThrottleBits = probes.Some(bits | probes.ThrottleIdle)
	}
	if d.KernelActiveRatio.Why() == probes.Lost && !d.KernelActiveRatio.Seen() {
		d.At, d.Err = c.last(), "the GPU does not answer: the driver has lost it"
		return d.WithoutReadings(probes.Lost)
	}
	return d
}

func (c *card) last() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest.At
}

// identify reads who the card is. A UUID is as ROCR_VISIBLE_DEVICES takes it; boards
// without a number of their own go by their place.
func (c *card) identify() {
	pci := strings.ToLower(c.files.property("uevent", "PCI_SLOT_NAME"))
	d := probes.GPUDevice{Source: probes.SourceAMDGPU, PCIAddress: pci, UUID: "GPU-" + pci, CPUs: c.files.text("local_cpulist"), Name: c.files.text("product_name")}
	if id := c.files.text("unique_id"); id != "" && strings.Trim(id, "0x") != "" {
		d.UUID = "GPU-" + strings.TrimPrefix(id, "0x")
	}
	d.XidTotal, d.LastXid = probes.None[uint64](probes.Unsupported), probes.None[uint64](probes.Unsupported) // NVIDIA's
	if d.Name == "" {
		d.Name = "AMD GPU " + c.files.text("device")
	}
	c.fixed, c.link = d, c.files
	c.atSlot()
}

// atSlot finds the device whose PCIe link is that of the slot: of cards with a switch of
// their own it is that switch, and the GPU's link to it is always at its best.
func (c *card) atSlot() {
	dir, err := filepath.EvalSymlinks(c.files.root)
	if err != nil {
		return
	}
	for range 3 {
		dir = filepath.Dir(dir)
		up := files{root: dir, read: c.files.read}
		if up.text("vendor") != "0x1002" || !strings.HasPrefix(up.text("class"), "0x0604") { // AMD's GPUs; its CPUs are of 0x1022
			return
		}
		c.link = up
	}
}

// readActivity reads what changes at every moment and is no sensor.
func (c *card) readActivity(d *probes.GPUDevice) {
	d.KernelActiveRatio = c.files.percent("gpu_busy_percent")
	d.MemoryActiveRatio = c.files.percent("mem_busy_percent")
	d.MemoryTotalBytes = c.files.number("mem_info_vram_total", 1)
	d.MemoryUsedBytes = c.files.number("mem_info_vram_used", 1)
	if v, ok := d.MemoryTotalBytes.Get(); ok && v <= 0 {
		d.MemoryTotalBytes, d.MemoryUsedBytes = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
	}
	d.NUMANode = c.files.number("numa_node", 1)
	if d.NUMANode.Or(0) < 0 { // the machine has one
		d.NUMANode = probes.None[float64](probes.NotExposed)
	}
}
