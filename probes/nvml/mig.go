//go:build linux && cgo

package nvml

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// instance is a MIG instance: a part of a device that programs see as a device.
type instance struct {
	parent  nvml.Device
	handle  nvml.Device
	number  int // of the GPU instance that it lies in; below 0: not known
	fixed   probes.GPUDevice
	refused refusals
	gpm     gpm
}

// mostInstances is more than a device can be divided into today.
const mostInstances = 16

// readMIGMode asks whether the device is divided; most devices cannot be.
func (d *nvmlDevice) readMIGMode(r *reader) {
	var current int
	ret := r.call("nvmlDeviceGetMigMode", func() (ret nvml.Return) { current, _, ret = d.handle.GetMigMode(); return })
	if ret == nvml.SUCCESS || absence(ret) == probes.Unsupported {
		d.kept.MIG = ret == nvml.SUCCESS && current == nvml.DEVICE_MIG_ENABLE
	}
}

// findInstances keeps those that are still there, and takes up new ones. They come and go
// while the device runs, and a handle may then stand for another.
func (d *nvmlDevice) findInstances(r *reader) {
	var found []*instance
	if d.kept.MIG && r.lost == nvml.SUCCESS {
		for i := range d.placesForInstances(r) {
			if n := d.instanceAt(r, i); n != nil {
				found = append(found, n)
			}
		}
	}
	for _, old := range d.instances {
		if !slices.Contains(found, old) {
			old.gpm.release(d.guard)
		}
	}
	d.instances = found
}

func (d *nvmlDevice) placesForInstances(r *reader) int {
	var n int
	ret := r.call("nvmlDeviceGetMaxMigDeviceCount", func() (ret nvml.Return) { n, ret = d.handle.GetMaxMigDeviceCount(); return })
	if ret != nvml.SUCCESS {
		return 0
	}
	return min(n, mostInstances)
}

// instanceAt is nil where there is none. Its errors say nothing about the device.
func (d *nvmlDevice) instanceAt(r *reader, i int) *instance {
	own := reader{guard: r.guard, refused: map[question]nvml.Return{}}
	var h nvml.Device
	if own.call("nvmlDeviceGetMigDeviceHandleByIndex", func() (ret nvml.Return) { h, ret = d.handle.GetMigDeviceHandleByIndex(i); return }) != nvml.SUCCESS {
		return nil
	}
	uuid := own.text("nvmlDeviceGetUUID", h.GetUUID)
	if uuid == "" {
		return nil
	}
	for _, old := range d.instances {
		if old.fixed.UUID == uuid {
			old.handle = h
			return old
		}
	}
	n := &instance{parent: d.handle, handle: h, gpm: gpm{now: d.now}}
	if own.call("nvmlDeviceGetGpuInstanceId", func() (ret nvml.Return) { n.number, ret = h.GetGpuInstanceId(); return }) != nvml.SUCCESS {
		n.number = -1
	}
	k := &d.kept
	n.fixed = probes.GPUDevice{
		UUID: uuid, Name: own.text("nvmlDeviceGetName", h.GetName), Parent: k.UUID, Instance: profile(&own, h),
		Source: k.Source, PCIAddress: k.PCIAddress, Architecture: k.Architecture, Virtual: k.Virtual, CPUs: k.CPUs,
	}.WithoutReadings(probes.Unsupported)
	n.fixed.NUMANode = k.NUMANode
	if n.number >= 0 {
		n.fixed.InstanceID = probes.Some(uint64(n.number))
	}
	return n
}

// profile is how large a part an instance is: "1g.18gb", as it stands in the name, or in
// the same form from its numbers.
func profile(r *reader, h nvml.Device) string {
	_, p, _ := strings.Cut(r.text("nvmlDeviceGetName", h.GetName), " MIG ")
	if p = strings.ToLower(p); p != "" && strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789.+") == "" {
		return p
	}
	var a nvml.DeviceAttributes
	if r.call("nvmlDeviceGetAttributes", func() (ret nvml.Return) { a, ret = h.GetAttributes(); return }) != nvml.SUCCESS {
		return ""
	}
	gib := (a.MemorySizeMB + 512) / 1024
	if a.ComputeInstanceSliceCount != a.GpuInstanceSliceCount {
		return fmt.Sprintf("%dc.%dg.%dgb", a.ComputeInstanceSliceCount, a.GpuInstanceSliceCount, gib)
	}
	return fmt.Sprintf("%dg.%dgb", a.GpuInstanceSliceCount, gib)
}

// readInstances adds the instances to their device. When one is gone, all are looked for
// anew in the next round.
func (d *nvmlDevice) readInstances(all []probes.GPUDevice, now time.Time) []probes.GPUDevice {
	d.changed = false
	for _, n := range d.instances {
		r := reader{guard: d.guard, refused: n.refused.at(now)}
		out := n.fixed
		r.memory(n.handle, &out)
		d.changed = d.changed || r.bad != nvml.SUCCESS // its handle no longer holds
		n.gpm.read(n.gpmSource(d.api), &r, &out)
		all = append(all, out)
	}
	return all
}

// gpmSource: how busy an instance was. Instances within one GPU instance share its numbers.
// What is measured of the board as a whole (power, clocks, heat) is with the device, and
// utilisation is not measured at all.
func (n *instance) gpmSource(api nvml.Interface) gpmSource {
	return gpmSource{api, n.parent, func(r *reader, s nvml.GpmSample) nvml.Return {
		if n.number < 0 {
			return nvml.ERROR_NOT_SUPPORTED
		}
		return r.call("nvmlGpmMigSampleGet", func() nvml.Return { return n.parent.GpmMigSampleGet(n.number, s) })
	}}
}
