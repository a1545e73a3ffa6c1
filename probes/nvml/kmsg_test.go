package nvml

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

func TestKernelLines(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"an Xid", "4,1234,5678901,-;NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n", "0000:5e:00 79 by 2"},
		{"as older drivers write it", "4,1,2,-;NVRM: Xid (0000:5E:00): 31, Ch 00000010\n", "0000:5e:00 31 by 2"},
		{"of a MIG instance", "4,1,2,-;NVRM: Xid (PCI:0000:c3:00 GPU-I:04): 13, pid=1\n", "0000:c3:00 13 by 2"},
		{"with a function", "4,1,2,-;NVRM: Xid (PCI:0000:c3:00.0): 48, pid=1\n", "0000:c3:00 48 by 2"},
		{"fallen, in one record", `3,1,2,-;NVRM: The NVIDIA GPU 0000:b3:00.0\x0aNVRM: (PCI ID: 10de:26b5) installed in this system has\x0aNVRM: fallen off the bus and is not responding to commands.` + "\n", "0000:b3:00 79 by 4"},
		{"fallen, in three records", "3,1,2,-;NVRM: The NVIDIA GPU 0000:b3:00.0\n3,2,2,-;NVRM: (PCI ID: 10de:26b5) installed in this system has\n3,3,2,-;NVRM: fallen off the bus and is not responding to commands.\n", "0000:b3:00 79 by 4"},
		{"fallen, in words", "3,1,2,-;NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus.\n", "0000:b3:00 79 by 4"},
		{"fallen, nobody knows who", "3,3,2,-;NVRM: fallen off the bus and is not responding to commands.\n", ""},
		{"fallen, long after a name", "3,1,2,-;NVRM: The NVIDIA GPU 0000:b3:00.0\n" + strings.Repeat("3,2,2,-;NVRM: something else\n", 4) + "3,3,2,-;NVRM: fallen off the bus\n", ""},
		{"of a program, as its number tells", "12,1,2,-;NVRM: Xid (PCI:0000:5e:00): 79\n", ""},
		{"a program and its file, named by anybody", "6,1,2,-;NVRM: x[7]: segfault at 0 ip 0 sp 0 error 4 in 0000:5e:00 fallen off the bus[1000+2000]\n" +
			"6,1,2,-;NVRM: GPU [7]: segfault at 0 ip 0 sp 0 error 4 in 0000:5e:00.0: GPU has fallen off the bus[1000+2000]\n" +
			"6,1,2,-;NVRM: Xid (0:0:[7]: segfault at 0 ip 0 sp 0 error 4 in a): 79[1000+2000]\n" +
			"3,1,2,-;NVRM: GPU at PCI:0000:b3:00: GPU-1\n6,1,2,-;NVRM: x[7]: segfault at 0 ip 0 sp 0 error 4 in fallen off the bus[1000+2000]\n", ""},
		{"fallen, as older drivers write it", "3,1,2,-;NVRM: GPU at 0000:b3:00.0 has fallen off the bus.\n", "0000:b3:00 79 by 4"},
		{"of somebody else", "4,1,2,-;mlx5_core 0000:ab:00.0: fallen off the bus\n", ""},
		{"inside another message", "4,1,2,-;x NVRM: Xid (PCI:0000:5e:00): 79\n", ""},
		{"no address", "4,1,2,-;NVRM: Xid (PCI:zz): 79\n4,1,2,-;NVRM: Xid (PCI:0000:fff:00): 79\n", ""},
		{"no number", "4,1,2,-;NVRM: Xid (PCI:0000:5e:00): many\n4,1,2,-;NVRM: Xid (PCI:0000:5e:00): 99999999999999999999\n", ""},
		{"no record", "\n;\nNVRM: Xid (PCI:0000:5e:00): 79\n SUBSYSTEM=pci\n-1,1,2,-;NVRM: Xid (PCI:0000:5e:00): 79\n", ""},
	} {
		var p kernelParser
		var got []string
		for line := range strings.Lines(c.lines) {
			if device, by, number, ok := p.line([]byte(line)); ok {
				got = append(got, fmt.Sprintf("%s %d by %d", device, number, by))
			}
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

func FuzzKernelLine(f *testing.F) {
	f.Add("4,1234,5678901,-;NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus.")
	f.Add("3,1,2,-;NVRM: The NVIDIA GPU 0000:b3:00.0 has fallen off the bus")
	f.Fuzz(func(t *testing.T, line string) {
		var p kernelParser
		device, _, number, ok := p.line([]byte(line))
		if key, is := pciKey(device); ok && (!is || key != device || number > 999999999) {
			t.Errorf("%q: %q %d", line, device, number)
		}
	})
}

// kernel is a log that a test writes.
type kernel struct {
	root string
	file *os.File
}

func newKernel(t *testing.T) *kernel {
	t.Helper()
	k := &kernel{root: t.TempDir()}
	path := filepath.Join(k.root, "dev/kmsg")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	k.file = file
	t.Cleanup(func() { file.Close() })
	return k
}

func (k *kernel) say(t *testing.T, text string) {
	t.Helper()
	if _, err := k.file.WriteString("4,1,2,-;NVRM: " + text + "\n"); err != nil {
		t.Fatal(err)
	}
}

// The kernel's log counts for the device that has the address, also after NVML was
// started anew, and reading it ends with the probe.
func TestKernelLog(t *testing.T) {
	k := newKernel(t)
	d := &fakeDevice{who: probes.GPUDevice{UUID: "GPU-7", PCIAddress: "00000000:5E:00.0"}}
	p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{d, &fakeDevice{}}}}}})
	p.root = k.root
	until(t, p, func(g *probes.GPU) bool { return len(g.Devices) == 2 && g.Devices[1].XidTotal.Seen() })
	k.say(t, "Xid (PCI:0000:5e:00): 31, pid=1")
	k.say(t, "Xid (PCI:0000:99:00): 31, of a device that is not ours")
	g := until(t, p, func(g *probes.GPU) bool { return g.Devices[0].XidTotal == probes.Some[uint64](1) })
	if d := g.Devices[0]; d.LastXid != probes.Some[uint64](31) || g.KernelLog != "" || g.Devices[1].XidTotal != probes.Some[uint64](0) {
		t.Errorf("%+v", g)
	}
	p.Close()
	p.ends.Wait()
}

func until(t *testing.T, p *Probe, as func(*probes.GPU) bool) *probes.GPU {
	t.Helper()
	for t.Context().Err() == nil {
		if g := read(t, p); as(g) {
			return g
		}
	}
	t.Fatal("never saw what was waited for")
	return nil
}

func TestKernelLogThatCannotBeRead(t *testing.T) {
	d := &fakeDevice{}
	p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{d}}}}})
	p.root = t.TempDir()
	g := until(t, p, func(g *probes.GPU) bool { return len(g.Devices) == 1 && g.KernelLog != "" })
	if want := "there is no kernel's log, " + p.root + "/dev/kmsg"; g.KernelLog != want || g.Devices[0].XidTotal.Seen() {
		t.Errorf("%+v, want the note %q", g, want)
	}
	if note := kernelNote("/dev/kmsg", fmt.Errorf("open: %w", fs.ErrPermission)); note != "the kernel's log, /dev/kmsg, is not for this user: root may read it, or CAP_SYSLOG" {
		t.Errorf("note %q", note)
	}
}

// log gives records and errors in turn, the last for ever.
type log []any

func (l *log) Read(to []byte) (int, error) {
	next := (*l)[0]
	if len(*l) > 1 {
		*l = (*l)[1:]
	}
	if text, ok := next.(string); ok {
		return copy(to, text), nil
	}
	return 0, next.(error)
}

func TestKernelLogErrors(t *testing.T) {
	record, broken := "4,1,2,-;NVRM: Xid (PCI:0000:5e:00): 13\n", errors.New("broken")
	for _, c := range []struct {
		name string
		log  log
		told int
		err  error
	}{
		{"records were overwritten", log{record, syscall.EPIPE, syscall.EPIPE, record, broken}, 2, broken},
		{"one is too long", log{syscall.EINVAL, record, broken}, 1, broken},
		{"it is never read again", log{record, syscall.EPIPE}, 1, syscall.EPIPE},
		{"another error", log{broken}, 0, broken},
	} {
		told := 0
		err := readKernelLog(t.Context(), &c.log, func(string, xidSource, uint64) { told++ })
		if told != c.told || !errors.Is(err, c.err) {
			t.Errorf("%s: told %d times, %v; want %d, %v", c.name, told, err, c.told, c.err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := readKernelLog(ctx, &log{broken}, nil); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

func TestXidsCountOnce(t *testing.T) {
	type told struct {
		at     float64 // seconds
		by     xidSource
		number uint64
	}
	for _, c := range []struct {
		name  string
		told  []told
		total uint64
		last  probes.Opt[uint64]
	}{
		{"by both", []told{{0, toldByDriver, 31}, {1, toldByKernel, 31}}, 1, probes.Some[uint64](31)},
		{"by both, the kernel first", []told{{0, toldByKernel, 31}, {1, toldByDriver, 31}}, 1, probes.Some[uint64](31)},
		{"three times by each", []told{{0, toldByKernel, 31}, {0, toldByKernel, 31}, {1, toldByDriver, 31}, {1, toldByDriver, 31}, {1, toldByDriver, 31}, {2, toldByKernel, 31}}, 3, probes.Some[uint64](31)},
		{"others", []told{{0, toldByDriver, 31}, {1, toldByKernel, 43}}, 2, probes.Some[uint64](43)},
		{"long after", []told{{0, toldByDriver, 31}, {6, toldByKernel, 31}}, 2, probes.Some[uint64](31)},
		{"the driver does not know which", []told{{0, toldByDriver, 999}, {1, toldByKernel, 119}}, 1, probes.Some[uint64](119)},
		{"the driver knows it later, and not which", []told{{0, toldByKernel, 119}, {1, toldByDriver, 999}}, 1, probes.Some[uint64](119)},
		{"nobody knows which", []told{{0, toldByDriver, 999}}, 1, probes.Opt[uint64]{}},
		{"off the bus, in words too", []told{{0, toldByKernelInWords, 79}, {0, toldByKernel, 79}, {1, toldByKernelInWords, 79}, {1, toldByDriver, 79}}, 1, probes.Some[uint64](79)},
		{"what followed from it", []told{{0, toldByDriver, 79}, {0, toldByDriver, 154}, {1, toldByKernel, 154}, {2, toldByDriver, 45}}, 3, probes.Some[uint64](79)},
		{"what followed, first", []told{{0, toldByDriver, 45}, {1, toldByDriver, 31}}, 2, probes.Some[uint64](31)},
		{"a clean-up long after", []told{{0, toldByDriver, 31}, {9, toldByDriver, 45}}, 2, probes.Some[uint64](45)},
		{"off the bus, in words only", []told{{0, toldByKernelInWords, 79}, {2, toldByKernelInWords, 79}}, 1, probes.Some[uint64](79)},
	} {
		var l xidLog
		for _, x := range c.told {
			l.add("gpu", x.by, x.number, time.Unix(1000, 0).Add(time.Duration(x.at*float64(time.Second))))
		}
		if total, last := l.of("gpu", ear{}); total != probes.Some(c.total) || last != c.last {
			t.Errorf("%s: %v, last %v; want %d, %v", c.name, total, last, c.total, c.last)
		}
	}
}

// A storm counts once too, though one source is a thousand errors ahead of the other.
func TestXidStorm(t *testing.T) {
	var l xidLog
	for range 10 {
		for _, by := range []xidSource{toldByDriver, toldByKernel} {
			for range mostXids {
				l.add("gpu", by, 31, time.Unix(0, 0))
			}
		}
	}
	if total, _ := l.of("gpu", ear{}); total != probes.Some[uint64](10*mostXids) {
		t.Errorf("%v errors, want %d", total, 10*mostXids)
	}
}

func TestXidLogIsBounded(t *testing.T) {
	var l xidLog
	for i := range 2 * mostXids {
		l.add(fmt.Sprint(i), toldByKernel, 13, time.Unix(0, 0))
		l.add("0", toldByKernel, 13, time.Unix(0, 0))
	}
	if c := l.devices["0"]; len(l.devices) != mostXidDevices || len(c.recent) > mostXids || c.total != 2*mostXids+1 {
		t.Errorf("%d devices, %d kept of %d", len(l.devices), len(c.recent), c.total)
	}
}
