package main

import (
	"slices"
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/probes/nvml"
)

// gpuHost is a host with two devices of which everything is known.
func gpuHost(change ...func(*doctorReport)) *doctorReport {
	r := &doctorReport{Frame: frameReport{Driver: "580.65.06", PCI: []string{"0000:5e:00.0 NVIDIA active"},
		Devices:  []deviceFile{{Path: "/dev/nvidiactl", May: "rw"}, {Path: "/dev/kmsg", May: "r"}},
		Settings: []setting{{"hidepid", "0"}, {"psi", "yes"}, {"schedstat", "yes"}}}}
	r.Sections.GPU = &probes.GPU{Driver: "580.65.06", Devices: []probes.GPUDevice{fullGPU(0), fullGPU(1)}}
	r.Sections.Host, r.Sections.Process = &probes.Host{}, &probes.Process{PID: 42}
	for _, c := range change {
		c(r)
	}
	r.conclude()
	return r
}

func TestMissing(t *testing.T) {
	forbidden := probes.None[float64](probes.NoPermission)
	onGPU := func(f func(*probes.GPUDevice)) func(*doctorReport) {
		return func(r *doctorReport) {
			for i := range r.Sections.GPU.Devices {
				f(&r.Sections.GPU.Devices[i])
			}
		}
	}
	noDevices := func(note string) func(*doctorReport) {
		return func(r *doctorReport) { r.Sections.GPU = &probes.GPU{Note: "no NVML device: " + note} }
	}
	noSign := func(r *doctorReport) { r.Frame.Driver, r.Frame.PCI, r.Frame.Devices = "", nil, nil }
	container := func(signs ...string) func(*doctorReport) { return func(r *doctorReport) { r.Frame.Container = signs } }
	for _, c := range []struct {
		name   string
		change []func(*doctorReport)
		want   string // what => what gives it; several divided by " | "
		broken string
	}{
		{"nothing", nil, "", ""},
		{"no GPU", []func(*doctorReport){noSign, noDevices("the NVIDIA driver's library libnvidia-ml.so.1 is not installed")}, "", ""},
		{"no library", []func(*doctorReport){noDevices("the NVIDIA driver's library libnvidia-ml.so.1 is not installed")},
			"GPU readings: => NVIDIA's driver with its library", ""},
		{"mismatch", []func(*doctorReport){noSign, noDevices("the NVIDIA kernel driver and its library are of different versions (NVML error 18)")}, "", "of different versions"},
		{"mismatch, beside a board of another maker", []func(*doctorReport){noDevices("the NVIDIA kernel driver and its library are of different versions (NVML error 18)"), func(r *doctorReport) {
			r.Sections.GPU.Devices = []probes.GPUDevice{{Source: probes.SourceAMDGPU}}
		}}, "GPU readings: => NVIDIA's driver with its library", "of different versions"},
		{"no driver, and an exporter", []func(*doctorReport){noDevices("the NVIDIA driver's library libnvidia-ml.so.1 is not installed"), func(r *doctorReport) {
			r.Sections.GPU.Devices = []probes.GPUDevice{{Source: probes.SourceDCGM, SMActiveRatio: probes.Some(1.0)}}
		}}, "", ""},
		{"not given to the container", []func(*doctorReport){container("/.dockerenv"), noDevices("the NVIDIA driver's library libnvidia-ml.so.1 is not installed")}, "GPU readings: => --gpus all", ""},
		{"fallen off the bus", []func(*doctorReport){noDevices("the driver lists no GPU")}, "GPU readings: => NVIDIA's driver with its library", "lists no GPU"},
		{"no access", []func(*doctorReport){noDevices("no permission to use the NVIDIA driver"), func(r *doctorReport) { r.Frame.Devices[0].May = "" }}, "GPU readings: => the right to read and write /dev/nvidiactl", "no permission"},
		{"before Hopper", []func(*doctorReport){onGPU(func(d *probes.GPUDevice) {
			d.SMActiveRatio, d.DRAMActiveRatio = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
		})}, "on GPUs 0, 1: the device or its driver has no GPM => dcgm-exporter", ""},
		{"divided", []func(*doctorReport){onGPU(func(d *probes.GPUDevice) {
			d.MIG = true
			d.SMActiveRatio, d.DRAMActiveRatio = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
		})}, "", ""},
		{"no permission", []func(*doctorReport){container("/.dockerenv"), onGPU(func(d *probes.GPUDevice) { d.ECCCorrectedTotal = forbidden })}, "ecc_corrected_total of GPUs 0, 1: no permission => NVIDIA_MIG_MONITOR_DEVICES=all", ""},
		{"lost", []func(*doctorReport){func(r *doctorReport) { r.Sections.GPU.Devices[1].Err = "the GPU is lost" }}, "", "GPU 1: the GPU is lost"},
		{"damage", []func(*doctorReport){func(r *doctorReport) {
			d := &r.Sections.GPU.Devices[1]
			d.XidTotal, d.LastXid, d.RecoveryAction = probes.Some(uint64(1)), probes.Some(uint64(48)), probes.Some(1.0)
		}}, "", "GPU 1: Xid 48, the driver asks to: reset the GPU"},
		{"an old driver", []func(*doctorReport){func(r *doctorReport) {
			r.Calls = []callReport{{Symbol: "nvmlGpmSampleGet", Result: "the driver has no such function"}, {Symbol: "nvmlDeviceGetName", Result: "ok"}}
		}}, "the NVIDIA driver 580.65.06 does not have GpmSampleGet => a newer driver", ""},
		{"no kernel log", []func(*doctorReport){func(r *doctorReport) { r.Frame.Devices[1].May = "" }}, "/dev/kmsg is not readable => CAP_SYSLOG", ""},
		{"another user's engine", []func(*doctorReport){func(r *doctorReport) {
			r.Engines = []foundEngine{{PID: 42, User: "llm", Readable: true}}
			r.Sections.Process.ReadBytesTotal = forbidden
			r.Sections.Process.Members = []probes.Member{{Descriptors: forbidden}, {Descriptors: forbidden}}
		}}, "descriptors, read_bytes_total of an engine of another user => llmtop as llm or root", ""},
		{"an engine elsewhere", []func(*doctorReport){func(r *doctorReport) {
			r.Sections.Process, r.Probes = nil, []probeReport{{Name: "scrape http://gpu-7:8000", State: probeOK}, {Name: "process", State: probeLacks}}
		}}, "its process is not known here => on the engine's host", ""},
		{"hidden processes", []func(*doctorReport){func(r *doctorReport) { r.Frame.Settings[0].Value = "2" }}, "mounted with hidepid=2 => root", ""},
		{"hidden, not from us", []func(*doctorReport){func(r *doctorReport) {
			r.Frame.Settings[0].Value, r.Frame.Capabilities = "2", []string{"CAP_SYS_PTRACE"}
		}}, "", ""},
		{"namespaces", []func(*doctorReport){container("pid namespace", "cgroup namespace")}, "processes outside this container => --pid=host | limits and throttling => --cgroupns=host", ""},
		{"a poor kernel", []func(*doctorReport){func(r *doctorReport) { r.Frame.Settings[1].Value, r.Frame.Settings[2].Value = "no", "no" }}, "pressure: => psi=1 | wait for a core => CONFIG_SCHED_INFO", ""},
		{"machine", []func(*doctorReport){func(r *doctorReport) {
			r.Sections.Host.OOMKillsTotal, r.Sections.Sockets = forbidden, &probes.Sockets{Waiting: forbidden}
			r.Sections.Neighbours = &probes.Neighbours{List: []probes.Neighbour{{IOBytesPerS: forbidden}}}
		}}, "io_bytes_per_second, oom_kills_total, waiting: no permission => root", ""},
		{"engines", []func(*doctorReport){func(r *doctorReport) {
			e := foundEngine{Missing: "SGLang tells no metrics", Next: "start it with --enable-metrics"}
			r.Engines = []foundEngine{e, e}
		}}, "SGLang tells no metrics => start it with --enable-metrics", ""},
		{"failed probe", []func(*doctorReport){func(r *doctorReport) {
			r.Probes = []probeReport{{Name: "host", State: probeHung, Error: "no answer after 5 s"}, {Name: "profile", State: probeLacks, Error: "no such page"}}
		}}, "", "host: no answer after 5 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gpuHost(c.change...)
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, " | ")
			}
			if len(r.Missing) != len(want) {
				t.Fatalf("got %+v, want %q", r.Missing, want)
			}
			for i, w := range want {
				what, gives, _ := strings.Cut(w, " => ")
				if !strings.Contains(r.Missing[i].What, what) || !strings.Contains(r.Missing[i].Gives, gives) {
					t.Errorf("got %+v, want %q", r.Missing[i], w)
				}
			}
			if (c.broken == "") != (len(r.Broken) == 0) || len(r.Broken) > 0 && !strings.Contains(r.Broken[0], c.broken) || len(r.Broken) > 1 {
				t.Errorf("broken %q, want %q", r.Broken, c.broken)
			}
		})
	}
}

// What is said of a host without a GPU is what package nvml says of one; it is no trouble.
func TestWithoutGPUIsNoTrouble(t *testing.T) {
	exams := examine(t.Context(), []probes.Scheduled{{Probe: nvml.New(nvml.Options{})}}, 0)
	r := newDoctorReport(exams, frameReport{})
	r.conclude()
	g := r.Sections.GPU
	if g == nil || len(g.Devices) > 0 || slices.ContainsFunc(lookAround("/").Devices, func(d deviceFile) bool { return strings.Contains(d.Path, "nvidia") }) {
		t.Skip("this machine has a GPU")
	}
	if len(r.Broken) > 0 || !r.isWithoutGPU(g.Note) {
		t.Errorf("note %q, broken %q", g.Note, r.Broken)
	}
}

// What holds a device back without being broken stands by itself.
func TestOdd(t *testing.T) {
	r := gpuHost(func(r *doctorReport) {
		d := &r.Sections.GPU.Devices[0]
		d.ThrottleBits, d.XidTotal = probes.Some(probes.ThrottleHWSlowdown|probes.ThrottlePowerBrake), probes.Some(uint64(1))
		r.Sections.GPU.Devices[1].ThrottleBits = probes.Some(uint64(0))
	})
	if len(r.Odd) != 1 || r.Odd[0] != "GPU 0: power brake" || len(r.Broken) != 1 || r.Broken[0] != "GPU 0: Xid" {
		t.Errorf("odd %q, broken %q", r.Odd, r.Broken)
	}
}
