package amdgpu

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each tree gives the devices and readings that stand in the text beside it.
func TestTrees(t *testing.T) {
	for _, name := range []string{"mi300x", "mi250", "rx7900", "apu"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, tree(t, name+".txtar"))
			got, golden := told(s.read()), filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the devices are not those of %s (-update writes them):\n%s", golden, got)
			}
		})
	}
}

// told writes down what is known of the devices, and what is not for a reason of its own.
func told(g *probes.GPU) string {
	var b strings.Builder
	fmt.Fprintf(&b, "driver %q, processes %v\n", g.Driver, g.Processes)
	for i := range g.Devices {
		d := g.Devices[i]
		absent := map[probes.Absence][]string{}
		fmt.Fprintf(&b, "\n%d %s %q %s %s %s cpus=%s err=%q\n", d.Index, d.UUID, d.Name, d.Source, d.PCIAddress, d.Architecture, d.CPUs, d.Err)
		for _, r := range probes.GPUReadings {
			if v, ok := r.Of(&d).Get(); ok {
				fmt.Fprintf(&b, "  %s %v %s\n", r.Name, v, r.Unit)
			} else {
				absent[r.Of(&d).Why()] = append(absent[r.Of(&d).Why()], r.Name)
			}
		}
		if bits, ok := d.ThrottleBits.Get(); ok {
			fmt.Fprintf(&b, "  throttle_bits %#x\n", bits)
		}
		delete(absent, probes.Unsupported) // the rest
		for _, why := range slices.Sorted(maps.Keys(absent)) {
			fmt.Fprintf(&b, "  %s: %s\n", why, strings.Join(absent[why], " "))
		}
	}
	return b.String()
}

// A machine without such a card lacks one, and is not looked through again for a minute.
func TestNoCard(t *testing.T) {
	root := t.TempDir()
	s := newStage(t, root)
	lacks := func() {
		t.Helper()
		if section, err := s.probe.Read(t.Context()); section != nil || !probes.IsLacking(err) {
			t.Errorf("section %v, error %v", section, err)
		}
	}
	lacks()
	appeared := tree(t, "rx7900.txtar")
	if err := os.Rename(filepath.Join(appeared, "sys"), filepath.Join(root, "sys")); err != nil {
		t.Fatal(err)
	}
	s.later(59 * time.Second)
	lacks()
	s.later(time.Second)
	if d := s.device(); d.UUID != "GPU-0000:03:00.0" {
		t.Errorf("device %q", d.UUID)
	}
}

// What a file's error means. A card that is busy or resets may answer next time.
func TestErrorsOfFiles(t *testing.T) {
	for _, c := range []struct {
		err  error
		want probes.Absence
	}{
		{syscall.EBUSY, probes.NotSeen}, {syscall.EAGAIN, probes.NotSeen}, {syscall.EIO, probes.NotSeen}, {syscall.ETIME, probes.NotSeen},
		{syscall.EINVAL, probes.Unsupported}, {syscall.EOPNOTSUPP, probes.Unsupported}, {syscall.Errno(524), probes.Unsupported},
		{syscall.EACCES, probes.NoPermission}, {syscall.EPERM, probes.NoPermission}, {syscall.ENOENT, probes.NotExposed},
	} {
		s := newStage(t, tree(t, "mi300x.txtar"))
		s.read()
		s.failing("gpu_busy_percent", c.err)
		d := s.device()
		if d.KernelActiveRatio != probes.None[float64](c.want) || d.Err != "" || !d.PowerWatts.Seen() {
			t.Errorf("%v: %v (%v), error %q, power %v", c.err, d.KernelActiveRatio, d.KernelActiveRatio.Why(), d.Err, d.PowerWatts)
		}
	}
}

// Files that hold anything but what they should give no reading, and no crash.
func TestGarbage(t *testing.T) {
	root := tree(t, "mi300x.txtar")
	dir := filepath.Join(root, "sys/class/drm/card1/device")
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if keep := e.Name(); err != nil || e.IsDir() || keep == "vendor" || keep == "uevent" || strings.HasSuffix(keep, "_label") {
			return err
		}
		return os.WriteFile(path, []byte("\x1b[2J: -nan\n: *\n99999999999999999999999: 1Mhz1Mhz *\x00\xff"), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, "sys/class/drm/card1/device/gpu_metrics", "\x78\x00\x01\x03")
	d := newStage(t, root).device()
	for _, r := range probes.GPUReadings {
		if v, ok := r.Of(d).Get(); ok {
			t.Errorf("%s is %v", r.Name, v)
		}
	}
	if strings.Contains(d.UUID+d.Name+d.CPUs, "\x1b") {
		t.Errorf("device %q %q %q", d.UUID, d.Name, d.CPUs)
	}
}

// A sleeping card keeps its name. None of its files is touched beyond what tells that it
// sleeps, and those of the bus.
func TestSleepingCardIsLeftAlone(t *testing.T) {
	root := tree(t, "rx7900.txtar")
	put(t, root, device0+"power/runtime_status", "suspended\n")
	s := newStage(t, root)
	var touched []string
	s.probe.files.read = func(path string) ([]byte, error) {
		touched = append(touched, filepath.Base(path))
		return readFile(path)
	}
	d := s.device()
	if d.Err != "" || d.PCIAddress != "0000:03:00.0" || d.KernelActiveRatio != probes.None[float64](probes.Stale) || !d.At.Equal(began) {
		t.Errorf("device %+v", d)
	}
	for _, name := range touched {
		if !slices.Contains([]string{"vendor", "device", "class", "uevent", "unique_id", "product_name", "local_cpulist", "runtime_status", "version", "comm"}, name) {
			t.Errorf("%s was read", name)
		}
	}
	put(t, root, device0+"power/runtime_status", "active\n")
	s.later(time.Second)
	if d := s.device(); d.KernelActiveRatio != probes.Some(0.0) {
		t.Errorf("awake: %v", d.KernelActiveRatio)
	}
}

// A card that vanishes keeps its name and the time of its last readings; one that is lost
// with its files in place, too. Both may come back.
func TestVanishingCard(t *testing.T) {
	root := tree(t, "mi250.txtar")
	s := newStage(t, root)
	before := s.device()
	gone := func(what string) {
		t.Helper()
		s.later(time.Second)
		d := s.device()
		if d.Err == "" || d.UUID != before.UUID || !d.At.Equal(before.At) || d.KernelActiveRatio != probes.None[float64](probes.Lost) || d.PowerWatts.Seen() {
			t.Errorf("%s: device %+v", what, d)
		}
	}
	device := filepath.Join(root, device0)
	if err := os.Rename(device, device+"-gone"); err != nil {
		t.Fatal(err)
	}
	gone("no files")
	gone("still no files")
	if err := os.Rename(device+"-gone", device); err != nil {
		t.Fatal(err)
	}
	s.failing("gpu_busy_percent", syscall.ENODEV)
	gone("files without a card")
	s.failing("nothing", nil)
	if d := s.device(); d.Err != "" || d.KernelActiveRatio != probes.Some(1.0) || !d.At.Equal(s.now) {
		t.Errorf("back: device %+v", d)
	}
}

// One that hangs is told as such, keeps nobody waiting and is not asked again meanwhile.
func TestHangingCard(t *testing.T) {
	root := tree(t, "mi250.txtar")
	if err := os.CopyFS(filepath.Join(root, "sys/class/drm/card1"), os.DirFS(filepath.Join(root, "sys/class/drm/card0"))); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, root)
	s.read()
	release, asked := make(chan struct{}), make(chan struct{}, 100)
	for _, c := range s.probe.cards[:1] {
		c.files.read = func(path string) ([]byte, error) {
			asked <- struct{}{}
			<-release
			return readFile(path)
		}
	}
	s.probe.wait = 0
	for range 5 {
		s.later(time.Second)
		s.read()
	}
	<-asked
	g := s.read()
	if d := g.Devices[0]; !strings.Contains(d.Err, "no answer from the driver for 4 s") || d.KernelActiveRatio != probes.None[float64](probes.Stale) || !d.At.Equal(began) {
		t.Errorf("the card that hangs: %+v", d)
	}
	if len(asked) > 0 {
		t.Errorf("asked %d times more", len(asked))
	}
	s.probe.wait = time.Minute
	close(release)
	s.read() // what was out comes in
	if d := s.device(); d.Err != "" || !d.KernelActiveRatio.Seen() {
		t.Errorf("afterwards: %+v", d)
	}
}

// A card with a switch of its own has its slot's link there.
func TestLinkIsThatOfTheSlot(t *testing.T) {
	root := tree(t, "rx7900.txtar")
	port := "sys/devices/pci0000:00/0000:00:01.1/"
	for path, body := range map[string]string{
		"vendor": "0x1022", "class": "0x060400", "current_link_width": "1",
		"0000:01:00.0/vendor": "0x1002", "0000:01:00.0/class": "0x060400",
		"0000:01:00.0/current_link_speed": "8.0 GT/s PCIe", "0000:01:00.0/max_link_speed": "16.0 GT/s PCIe",
		"0000:01:00.0/current_link_width": "4", "0000:01:00.0/max_link_width": "16",
		"0000:01:00.0/0000:02:00.0/vendor": "0x1002", "0000:01:00.0/0000:02:00.0/class": "0x060400",
	} {
		put(t, root, port+path, body+"\n")
	}
	card := filepath.Join(root, port, "0000:01:00.0/0000:02:00.0/0000:03:00.0")
	if err := os.Rename(filepath.Join(root, device0), card); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(card, filepath.Join(root, "sys/class/drm/card0/device")); err != nil {
		t.Fatal(err)
	}
	d := newStage(t, root).device()
	got := [4]float64{d.PCIeGeneration.Or(-1), d.PCIeGenerationMax.Or(-1), d.PCIeWidth.Or(-1), d.PCIeWidthMax.Or(-1)}
	if want := [4]float64{3, 4, 4, 16}; got != want {
		t.Errorf("link %v, want %v", got, want)
	}
}

// Names of processes are taken from /proc only where the driver's numbers are those of /proc.
func TestNamesOfProcesses(t *testing.T) {
	for link, want := range map[string]string{ownPIDs: "VLLM::EngineCor", "pid:[4026532999]": "", "": ""} {
		root := tree(t, "mi300x.txtar")
		if link != "" {
			if err := os.MkdirAll(filepath.Join(root, "proc/self/ns"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(link, filepath.Join(root, "proc/self/ns/pid")); err != nil {
				t.Fatal(err)
			}
		}
		g := newStage(t, root).read()
		if len(g.Processes) != 1 || g.Processes[0].Name != want || g.Processes[0].GPU != "GPU-7a1b2c3d4e5f6071" || g.Processes[0].PID != 4711 {
			t.Errorf("in %q: processes %+v", link, g.Processes)
		}
	}
}

// What is dear is read every half minute and stands between.
func TestRareReadings(t *testing.T) {
	root := tree(t, "mi300x.txtar")
	s := newStage(t, root)
	s.read()
	put(t, root, "sys/class/drm/card1/device/ras/umc_err_count", "ue: 2\nce: 12\n")
	for _, c := range []struct {
		after time.Duration
		want  float64
	}{{29 * time.Second, 1}, {time.Second, 2}} {
		s.later(c.after)
		if v := s.device().ECCUncorrectedTotal; v != probes.Some(c.want) {
			t.Errorf("%v: %v errors, want %v", s.now.Sub(began), v, c.want)
		}
	}
}

func BenchmarkNoCard(b *testing.B) {
	s := newStage(b, b.TempDir())
	for b.Loop() {
		s.probe.Read(b.Context())
	}
}

func BenchmarkCard(b *testing.B) {
	s := newStage(b, tree(b, "mi300x.txtar"))
	for b.Loop() {
		s.later(time.Second)
		s.read()
	}
}

// Links that lead to themselves, and pipes nobody writes to, are no card and no reading.
func TestLoops(t *testing.T) {
	root := tree(t, "mi300x.txtar")
	for link, to := range map[string]string{
		"sys/class/drm/card7/device":                    "device",
		"sys/class/drm/card8":                           "card8",
		"sys/class/kfd/kfd/topology/nodes/99":           "99",
		"sys/class/kfd/kfd/proc/77":                     "../proc/77",
		"sys/class/drm/card1/device/mem_info_vram_used": "mem_info_vram_used",
	} {
		path := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Remove(path)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	s := newStage(t, root)
	g := s.read()
	for _, d := range g.Devices {
		if d.Err != "" || strings.Contains(d.PCIAddress, "/") {
			t.Errorf("%+v", d)
		}
	}
	if d := g.Devices[0]; !d.PowerWatts.Seen() || d.MemoryUsedBytes.Seen() {
		t.Errorf("power %v, memory %v", d.PowerWatts, d.MemoryUsedBytes)
	}
}
