package amdgpu

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

// Bounds of the compute driver's folders.
const (
	maxNodes = 256
	maxTasks = 1024
)

// ownPIDs is the namespace of processes that the kernel began with: in another one the
// driver's numbers are not those of /proc.
const ownPIDs = "pid:[4026531836]"

// tasks are the processes that hold memory of the GPUs, as the compute driver (KFD) tells.
type tasks struct {
	files files
	read  time.Time
	nodes map[string]node // by the driver's number of the GPU, as text
	list  []probes.GPUProcess
}

// node is a GPU in the compute driver's topology.
type node struct{ pci, architecture string }

// at returns the processes, read anew every five seconds, and gives the devices the names
// of their architectures.
func (t *tasks) at(now time.Time, devices []probes.GPUDevice) (time.Time, []probes.GPUProcess) {
	if t.read.IsZero() || now.Sub(t.read) >= tasksEvery {
		t.read = now
		t.readNodes()
		t.list = t.holders(devices)
	}
	for i := range devices {
		for _, n := range t.nodes {
			if n.pci == devices[i].PCIAddress {
				devices[i].Architecture = n.architecture
			}
		}
	}
	if len(t.nodes) == 0 { // it is not told
		return time.Time{}, nil
	}
	return probes.Stamp(t.read), t.list
}

func (t *tasks) readNodes() {
	if len(t.nodes) > 0 {
		return // it does not change
	}
	t.nodes = map[string]node{}
	for _, name := range t.files.list("sys/class/kfd/kfd/topology/nodes", maxNodes) {
		f := files{root: filepath.Join(t.files.root, "sys/class/kfd/kfd/topology/nodes", name), read: t.files.read}
		id := f.text("gpu_id")
		text, err := f.get("properties")
		if id == "" || id == "0" || err != nil { // a CPU
			continue
		}
		p := properties(string(text))
		at, version := p["location_id"], p["gfx_target_version"]
		n := node{pci: fmt.Sprintf("%04x:%02x:%02x.%x", p["domain"], at>>8&0xff, at>>3&0x1f, at&7)}
		if version > 0 {
			n.architecture = fmt.Sprintf("gfx%d%x%x", version/10000, version/100%100, version%100)
		}
		t.nodes[id] = n
	}
}

// properties reads lines of a name and a number.
func properties(text string) map[string]uint64 {
	out := map[string]uint64{}
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) == 2 {
			if n, err := strconv.ParseUint(w[1], 10, 64); err == nil {
				out[w[0]] = n
			}
		}
	}
	return out
}

// holders lists who holds memory of the devices.
func (t *tasks) holders(devices []probes.GPUDevice) (list []probes.GPUProcess) {
	uuids := map[string]string{} // by the driver's number
	for id, n := range t.nodes {
		for i := range devices {
			if devices[i].PCIAddress == n.pci {
				uuids[id] = devices[i].UUID
			}
		}
	}
	names := t.ownNames()
	for _, name := range t.files.list("sys/class/kfd/kfd/proc", maxTasks) {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 0 {
			continue
		}
		for id, uuid := range uuids {
			bytes := t.files.number("sys/class/kfd/kfd/proc/"+name+"/vram_"+id, 1)
			if bytes.Or(0) <= 0 { // it does not use this one
				continue
			}
			p := probes.GPUProcess{GPU: uuid, PID: pid, MemoryBytes: bytes,
				KernelActiveRatio: probes.None[float64](probes.Unsupported), MemoryActiveRatio: probes.None[float64](probes.Unsupported)}
			if names {
				p.Name = probes.Printable(t.files.text("proc/"+name+"/comm"), 60)
			}
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b probes.GPUProcess) int {
		return cmp.Or(strings.Compare(a.GPU, b.GPU), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// ownNames reports whether the driver's numbers of processes are those of /proc here.
func (t *tasks) ownNames() bool {
	link, err := os.Readlink(filepath.Join(t.files.root, "proc/self/ns/pid"))
	return err == nil && link == ownPIDs
}

// list names what is in a folder, most at most.
func (f files) list(dir string, most int) (names []string) {
	d, err := os.Open(filepath.Join(f.root, dir))
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ = d.Readdirnames(most)
	return names
}
