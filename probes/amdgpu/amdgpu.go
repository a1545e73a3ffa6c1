// Package amdgpu reads AMD GPUs from the files of the kernel's driver: in flow the small
// files below /sys of a root that is a parameter, out flows the section *probes.GPU. It
// needs no library of ROCm and no permission: nearly all of these files may be read by
// everybody. Nothing is ever written.
//
// What NVIDIA and AMD name differently stands under one name: the activity of the graphics
// and compute units is KernelActiveRatio, xGMI between GPUs stands in the fields of NVLink,
// and limits that firmware enforces (package power, current, heat) in the throttle bits that
// mean the same. SM, tensor and DRAM activity have no counterpart here: they are unsupported.
//
// A card that sleeps is not woken: its power state is looked at first. One that is awake
// does not fall asleep while it is read. Files that are slow to answer or do damage by being
// read are left alone (pcie_bw sleeps a second, sdma_* of a process waits for the GPU).
//
// Each card has a goroutine while it is read; one that does not answer keeps its last
// readings, which grow old, and the others go on.
//
// Written by the kernel's documentation and headers (gpu_metrics 1.3 to 1.8) and tested on
// written trees. Not verified on AMD hardware: whether a card of a given kernel has each
// file, how dear reading them is, and what the residencies of gpu_metrics count.
package amdgpu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"time"

	"llmtop/probes"
)

// How often what is read.
const (
	deadline   = 100 * time.Millisecond // Read waits this long for the cards
	lookEvery  = time.Minute            // for cards that appear
	rareEvery  = 30 * time.Second       // for what changes rarely or is dear to ask
	tasksEvery = 5 * time.Second        // for processes
	maxCards   = 64
)

// errNone: there is nothing to read.
var errNone = errors.New("no AMD GPU")

// Probe yields *probes.GPU. It is a probes.Probe.
type Probe struct {
	files files
	now   func() time.Time
	wait  time.Duration

	cards  []*card
	looked time.Time
	driver string
	tasks  tasks
}

// New returns a probe of the machine below root ("" or "/" for this one).
func New(root string) *Probe {
	f := files{root: filepath.Clean("/" + root), read: readFile}
	return &Probe{files: f, now: time.Now, wait: deadline, tasks: tasks{files: f}}
}

// Name is "amdgpu".
func (p *Probe) Name() string { return "amdgpu" }

// Read reads every card. A machine that has none lacks them, and costs nothing: the next
// look is a minute later.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	now := p.now()
	if p.looked.IsZero() || now.Sub(p.looked) >= lookEvery {
		p.looked = now
		p.look()
	}
	if len(p.cards) == 0 {
		return nil, probes.Lacking(errNone)
	}
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	var answers []<-chan struct{}
	for _, c := range p.cards { // all are asked before any is waited for
		answers = append(answers, c.ask(now))
	}
	for _, a := range answers {
		select {
		case <-a:
		case <-ctx.Done():
		}
	}
	g := &probes.GPU{At: probes.Stamp(now), Driver: p.driver}
	for i, c := range p.cards {
		d := c.at(now)
		d.Index = i
		g.Devices = append(g.Devices, d)
	}
	g.ProcessesAt, g.Processes = p.tasks.at(now, g.Devices)
	return g, nil
}

var cardName = regexp.MustCompile(`^card(\d{1,4})$`)

// look takes in the cards that are new, by their numbers. Those that are known stay: one
// that has gone is told as gone.
func (p *Probe) look() {
	dir := filepath.Join(p.files.root, "sys/class/drm")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	known := map[int]bool{}
	for _, c := range p.cards {
		known[c.number] = true
	}
	for _, e := range entries {
		m := cardName.FindStringSubmatch(e.Name())
		if m == nil || len(p.cards) >= maxCards {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		device := files{root: filepath.Join(dir, e.Name(), "device"), read: p.files.read}
		if !known[n] && device.text("vendor") == "0x1002" && device.property("uevent", "DRIVER") == "amdgpu" {
			p.cards = append(p.cards, newCard(n, device))
		}
	}
	sort.Slice(p.cards, func(i, j int) bool { return p.cards[i].number < p.cards[j].number })
	if len(p.cards) > 0 && p.driver == "" {
		p.driver = p.files.text("sys/module/amdgpu/version") // of the driver that ROCm brings; the kernel's own has none
	}
}
