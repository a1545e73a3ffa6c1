//go:build linux && cgo

package nvml

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// BenchmarkTick reads eight devices as once a second would, what is seldom asked for in every
// tenth round, and reports the CPU time for each device and tick. The fake's own work, which
// looks through its script at each call, is in it.
func BenchmarkTick(b *testing.B) {
	if _, err := os.Stat(libraryFile("driver")); err != nil {
		b.Skip("no C compiler to build the fake NVML with")
	}
	b.Setenv("FAKE_NVML_SCRIPT", "../../testdata/fakenvml/eight.txt")
	now := time.Now()
	lib := newLibrary(libraryFile("driver"), func() time.Time { return now })
	sys, err := lib.open()
	if err != nil {
		b.Fatal(err)
	}
	defer lib.close()
	tick := func() {
		now = now.Add(time.Second)
		for _, d := range sys.devices {
			if _, err := d.read(); err != nil {
				b.Fatal(err)
			}
		}
	}
	tick()
	tick()
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		tick()
	}
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N*len(sys.devices)), "cpu-µs/device")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
