package nvml

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"llmtop/probes"
)

// untilRestart comes back when ctx ends, or when only a new start of NVML helps:
//   - every device has failed for as long as retryEvery, as after a driver reload;
//   - the devices that the driver has are others than before, as after one was plugged
//     in, or taken off the bus and found again.
//
// One lost device among others is no reason: a start costs the others readings, and may
// fail where the driver was upgraded meanwhile. Nor does it come back in the second case
// while a call is out, since nobody knows when that ends.
func untilRestart(ctx context.Context, workers []*worker, bound func() string) {
	check := time.NewTicker(retryEvery)
	defer check.Stop()
	began, before := bound(), ""
	failedBefore := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
		}
		failed := allFailed(workers)
		if failed && failedBefore {
			return
		}
		failedBefore = failed
		now := bound()
		if settled := now == before; settled && now != began && holdAll(workers) {
			return
		}
		before = now
	}
}

// allFailed says whether no device gives readings, and none would hold up a new
// start.
func allFailed(workers []*worker) bool {
	for _, w := range workers {
		if !w.failing() {
			return false
		}
	}
	return true
}

// holdAll makes all workers rest, if none of them is in a call.
func holdAll(workers []*worker) bool {
	for i, w := range workers {
		if !w.hold() {
			for _, held := range workers[:i] {
				held.unhold()
			}
			return false
		}
	}
	return true
}

// boundDevices are the addresses of the devices that the NVIDIA driver has, in one
// text; empty where the kernel does not tell.
func boundDevices(root string) string {
	entries, err := os.ReadDir(filepath.Join(root, "sys/bus/pci/drivers/nvidia"))
	if err != nil {
		return ""
	}
	var found []string
	for _, e := range entries {
		if _, ok := pciKey(e.Name()); ok {
			found = append(found, e.Name())
		}
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// remember adds to the devices that are known from earlier starts those of the last.
func remember(known []probes.GPUDevice, workers []*worker) []probes.GPUDevice {
	for _, w := range workers {
		d := w.identity()
		known = slices.DeleteFunc(known, func(k probes.GPUDevice) bool { return k.UUID == d.UUID })
		if d.UUID != "" && len(known) < maxDevices {
			known = append(known, d)
		}
	}
	return known
}

// missing are the known devices that are no longer there, as lost. While one that is
// there has not said who it is, nobody can tell.
func missing(known, present []probes.GPUDevice) []probes.GPUDevice {
	there := map[string]bool{}
	for _, d := range present {
		there[d.UUID] = true
	}
	var out []probes.GPUDevice
	for _, d := range known {
		if !there[""] && !there[d.UUID] {
			d = d.WithoutReadings(probes.Lost)
			d.Err = errLost.Error() + ": the driver no longer lists it"
			if d.PCIAddress != "" { // another one may have its number now
				d.Err += " (" + d.PCIAddress + ")"
			}
			out = append(out, d)
		}
	}
	return out
}
