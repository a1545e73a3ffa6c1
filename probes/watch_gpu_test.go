package probes

import (
	"slices"
	"testing"
)

func TestGPUEvents(t *testing.T) {
	got := story(80, func(i int, s *Sample) {
		d := GPUDevice{Index: 1, UUID: "GPU-1", KernelActiveRatio: Some(0.5), ThrottleBits: Some(ThrottleIdle), XidTotal: Some(uint64(0))}
		switch {
		case i < 10 && i%3 == 0, i >= 10 && i < 14, i >= 14 && i < 30 && i%2 == 0: // touched now and then, held, touched often
			d.ThrottleBits = Some(ThrottlePowerCap | ThrottleAppClocks)
		case i >= 50 && i < 53:
			d = GPUDevice{Index: 1, UUID: "GPU-1", Err: "the GPU is lost", KernelActiveRatio: None[float64](Lost), ThrottleBits: None[uint64](Lost)}
		}
		if i >= 45 {
			d.XidTotal, d.LastXid = Some(uint64(2)), Some(uint64(79))
		}
		s.GPU = &GPU{Devices: []GPUDevice{d}}
	})
	want := []string{
		"12s gpu-throttle GPU 1: power cap", "38s gpu-throttle GPU 1: no more power cap, after 19 s",
		"45s gpu-xid GPU 1: Xid 79 and 1 before it", "50s gpu-lost GPU 1: the GPU is lost", "1m2s gpu-lost GPU 1: over, after 2 s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// gpuStory is the story of one device that is at work.
func gpuStory(seconds int, at func(second int, d *GPUDevice)) []string {
	return story(seconds, func(i int, s *Sample) {
		d := GPUDevice{Index: 1, UUID: "GPU-1", KernelActiveRatio: Some(0.9), ThrottleBits: Some(uint64(0))}
		at(i, &d)
		s.GPU = &GPU{Devices: []GPUDevice{d}}
	})
}

func TestGPUHealthEvents(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds int
		at      func(i int, d *GPUDevice)
		want    []string
	}{
		{"memory errors are told at once, then once a minute", 100, func(i int, d *GPUDevice) {
			d.ECCUncorrectedTotal = Some(7.0 + max(0, float64(i)-4)) // one more each second
		}, []string{"5s gpu-memory-error GPU 1: 1 new memory errors that could not be set right", "1m5s gpu-memory-error GPU 1: 60 new memory errors that could not be set right"}},
		{"errors of the past, and a counter that began anew", 20, func(i int, d *GPUDevice) {
			if d.ECCUncorrectedTotal = Some(7.0); i > 5 {
				d.ECCUncorrectedTotal = Some(2.0)
			}
		}, nil},
		{"a row waits for a reset and gets it", 40, func(i int, d *GPUDevice) {
			if d.RemapPending = Some(0.0); i >= 3 && i < 20 {
				d.RemapPending = Some(1.0)
			}
		}, []string{"3s gpu-memory-error GPU 1: memory row that waits for a reset to be replaced", "29s gpu-memory-error GPU 1: no more memory row that waits for a reset to be replaced, after 16 s"}},
		{"a board past repair", 3, func(i int, d *GPUDevice) { d.RemapFailed = Some(1.0) }, []string{"0s gpu-memory-error GPU 1: memory row that could not be replaced"}},
		{"the driver asks for more", 30, func(i int, d *GPUDevice) {
			if d.RecoveryAction = Some(0.0); i >= 2 {
				d.RecoveryAction = Some(1.0)
			}
			if i >= 10 {
				d.RecoveryAction = Some(2.0)
			}
		}, []string{"2s gpu-recovery GPU 1: recovery wanted by the driver: reset the GPU", "10s gpu-recovery GPU 1: recovery wanted by the driver: reboot the node",
			"19s gpu-recovery GPU 1: no more recovery wanted by the driver: reset the GPU, after 7 s"}},
		{"a link that trained down under load and came back", 60, func(i int, d *GPUDevice) {
			link(d, 5, 16)
			if i >= 5 && i < 30 {
				link(d, 5, 8)
			}
		}, []string{"15s gpu-pcie-link GPU 1: PCIe link trained down to generation 5 with 8 lanes, of 5 with 16", "39s gpu-pcie-link GPU 1: no more PCIe link trained down, after 24 s"}},
		{"a link that was lowered in idleness takes a moment to come up", 90, func(i int, d *GPUDevice) {
			if link(d, 5, 16); i%30 < 5 {
				link(d, 1, 16)
			}
			if i%30 > 20 {
				link(d, 1, 16)
				d.ThrottleBits = Some(ThrottleIdle)
			}
		}, nil},
		{"bursts, at the begin of which the link is still low", 90, func(i int, d *GPUDevice) {
			if link(d, 1, 16); i%15 >= 2 {
				d.KernelActiveRatio = Some(0.0)
			}
		}, nil},
		{"a link of which nobody knows whether the device works", 60, func(i int, d *GPUDevice) {
			link(d, 1, 16)
			d.KernelActiveRatio, d.ThrottleBits = None[float64](Unsupported), None[uint64](Unsupported)
		}, nil},
		{"NVLinks that are not wired are none that went down", 40, func(i int, d *GPUDevice) {
			d.NVLinksTotal, d.NVLinksActive = Some(18.0), Some(12.0)
			if i >= 5 && i < 20 {
				d.NVLinksActive = Some(10.0)
			}
			if i == 7 {
				d.NVLinksActive = None[float64](Lost)
			}
		}, []string{"5s gpu-nvlink GPU 1: 2 of 12 NVLinks down", "29s gpu-nvlink GPU 1: no more NVLinks down, after 14 s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gpuStory(c.seconds, c.at); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func link(d *GPUDevice, generation, width float64) {
	d.PCIeGeneration, d.PCIeWidth, d.PCIeGenerationMax, d.PCIeWidthMax = Some(generation), Some(width), Some(5.0), Some(16.0)
}

// A device that is lost takes its MIG instances with it: that is one event.
func TestInstancesAreNotToldBesideTheirDevice(t *testing.T) {
	lost := func(uuid, parent string, index int) GPUDevice {
		return GPUDevice{UUID: uuid, Parent: parent, Index: index, Err: "gone", KernelActiveRatio: None[float64](Lost)}
	}
	got := story(3, func(i int, s *Sample) {
		s.GPU = &GPU{Devices: []GPUDevice{lost("GPU-1", "", 0), lost("MIG-1", "GPU-1", 0), lost("MIG-2", "GPU-1", 0), lost("MIG-7", "GPU-elsewhere", 3)}}
	})
	if want := []string{"0s gpu-lost GPU 0: gone", "0s gpu-lost GPU 3: gone"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
