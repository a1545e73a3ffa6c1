package host

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"llmtop/probes"
)

func TestDisks(t *testing.T) {
	disk := func(name string, reads, readBytes, writes, writeBytes, flight, busy, wait float64) probes.Disk {
		return probes.Disk{Name: name, ReadsTotal: made(reads), ReadBytesTotal: made(readBytes), WritesTotal: made(writes), WriteBytesTotal: made(writeBytes),
			InFlight: made(flight), BusySecondsTotal: made(busy), WaitSecondsTotal: made(wait)}
	}
	want := []probes.Disk{
		disk("nvme0n1", 100, 2000*512, 200, 4000*512, 1, 0.7, 1.2),
		disk("sda", 1, 8*512, 0, 0, 0, 0.002, 0.002),
		disk("dm-1", 10, 80*512, 30, 240*512, 2, 0.05, 0.08),
		disk("dm-10", 1, 2*512, 4, 5*512, 0, 0.007, 0.009),
		disk("md127", 1, 2*512, 4, 5*512, 0, 0.007, 0.009),
	}
	if got := readHost(t, tree(t, "host.txtar")).Disks; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPartitions(t *testing.T) {
	for _, c := range []struct {
		disk, name string
		want       bool
	}{
		{"sda", "sda1", true}, {"sda", "sda12", true}, {"sda", "sdaa", false}, {"sda", "sdb1", false}, {"", "sda1", false}, {"sda", "sda", false},
		{"nvme0n1", "nvme0n1p2", true}, {"nvme0n1", "nvme0n10", false}, {"dm-1", "dm-10", false}, {"md0", "md0p1", true}, {"mmcblk0", "mmcblk0boot0", false},
		{"xvda1", "xvda1", false},
	} {
		if got := isPartition([]byte(c.disk), []byte(c.name)); got != c.want {
			t.Errorf("%s of %s: %v", c.name, c.disk, got)
		}
	}
}

// Of many disks those are told that moved most, in the order of their names.
func TestManyDisks(t *testing.T) {
	root := tree(t, "host.txtar")
	var b strings.Builder
	for n := range 200 {
		fmt.Fprintf(&b, "8 %d nvme%dn1 1 0 %d 3 4 0 5 6 0 7 8\n", n, n, 1000+(n*37)%200)
	}
	put(t, root, "proc/diskstats", b.String())
	got := readHost(t, root).Disks
	if len(got) != maxDisks {
		t.Fatalf("%d disks", len(got))
	}
	for i, d := range got {
		if d.ReadBytesTotal.Or(0) < (1000+200-maxDisks)*512 || i > 0 && d.Name < got[i-1].Name {
			t.Errorf("%d: %s with %v bytes", i, d.Name, d.ReadBytesTotal)
		}
	}
}

func TestGarbledDisk(t *testing.T) {
	root := tree(t, "host.txtar")
	put(t, root, "proc/diskstats", "8 0 sd\x1b[31ma 1 0 x 3 4 0 5 y 0 z 8\n")
	got := readHost(t, root).Disks
	if len(got) != 1 || got[0].Name != "sd[31ma" || got[0].ReadBytesTotal != notExposed || got[0].WaitSecondsTotal != notExposed || got[0].BusySecondsTotal != notExposed || got[0].WritesTotal != made(4) {
		t.Errorf("%+v", got)
	}
}
