package host

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"

	"llmtop/probes"
)

const (
	maxDisks    = 32
	maxDevices  = 4096 // lines read of /proc/diskstats
	sectorBytes = 512  // of /proc/diskstats, whatever the disk's are
)

// notDisks are block devices that are memory, files, or removable.
var notDisks = regexp.MustCompile(`^(?:loop|z?ram|fd|sr)\d`)

// pathToDisk is one of several ways to an NVMe disk, which is listed itself.
var pathToDisk = regexp.MustCompile(`^nvme\d+c\d+n\d+$`)

// disks reads /proc/diskstats (kernel documentation, admin-guide/iostats) but for
// partitions and what was never used. Of many disks those are told that moved most.
func (h *Host) disks() []probes.Disk {
	text, err := h.file("proc/diskstats")
	if err != nil {
		return nil
	}
	var list []probes.Disk
	var field [20][]byte
	var whole []byte
	for n := 0; n < maxDevices && len(text) > 0; n++ {
		var line []byte
		line, text = nextLine(text)
		f := words(line, field[:0])
		if len(f) < 14 || isPartition(whole, f[2]) || notDisks.Match(f[2]) || pathToDisk.Match(f[2]) {
			continue
		}
		whole = f[2]
		if d := diskOf(f); d.ReadsTotal.Or(0)+d.WritesTotal.Or(0) > 0 {
			list = append(list, d)
		}
	}
	if len(list) > maxDisks {
		slices.SortStableFunc(list, func(a, b probes.Disk) int { return cmp.Compare(moved(b), moved(a)) })
		list = list[:maxDisks:maxDisks]
		slices.SortStableFunc(list, func(a, b probes.Disk) int { return cmp.Compare(a.Name, b.Name) })
	}
	return list
}

func moved(d probes.Disk) float64 { return d.ReadBytesTotal.Or(0) + d.WriteBytesTotal.Or(0) }

// isPartition tells sda1 of sda and nvme0n1p1 of nvme0n1, which the kernel lists after
// their disk, from dm-10 and dm-1.
func isPartition(disk, name []byte) bool {
	rest, ok := bytes.CutPrefix(name, disk)
	if len(disk) == 0 || !ok || len(rest) == 0 {
		return false
	}
	if last := disk[len(disk)-1]; last >= '0' && last <= '9' {
		if rest, ok = bytes.CutPrefix(rest, []byte("p")); !ok {
			return false
		}
	}
	_, number := unsigned(rest)
	return number
}

// diskOf reads a line: device numbers, name, then reads (done, merged, sectors, ms), the
// same of writes, requests out now, ms with any out, and so on.
func diskOf(f [][]byte) probes.Disk {
	return probes.Disk{
		Name:             probes.Printable(string(f[2]), 32),
		ReadsTotal:       reading(f[3], 1),
		ReadBytesTotal:   reading(f[5], sectorBytes),
		WritesTotal:      reading(f[7], 1),
		WriteBytesTotal:  reading(f[9], sectorBytes),
		InFlight:         reading(f[11], 1),
		BusySecondsTotal: inSeconds(f[12]),
		WaitSecondsTotal: inSeconds(f[6], f[10]),
	}
}

// inSeconds adds up times in milliseconds.
func inSeconds(times ...[]byte) probes.Opt[float64] {
	total := uint64(0)
	for _, ms := range times {
		n, ok := unsigned(ms)
		if !ok {
			return probes.None[float64](probes.NotExposed)
		}
		total += n
	}
	return probes.Some(float64(total) / 1e3)
}
