package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"

	"llmtop/engine/twin"
)

// dayScenario is one engine of eight GPUs at fifty requests a second, as the aim has it.
const dayScenario = `gpu h100x8
model qwen3-30b-a3b fp8
tp 8
rate 50
workload chat arrivals=diurnal:0.5,15
duration 24h
`

// dayAim is how long it should take at most, on two cores.
const dayAim = 2 * time.Minute

// day simulates a day and tells what it took. A slower machine misses no gate: it is an aim.
func day(out io.Writer) (bool, error) {
	sc, err := twin.Parse(strings.NewReader(dayScenario), "day")
	if err != nil {
		return false, err
	}
	begun, used := time.Now(), cpuTime()
	run, err := twin.New(sc)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s, %s at 50 requests/s\n", sc.Title(), sc.Duration)
	fmt.Fprintf(out, "%6s %10s %10s %12s %8s %8s\n", "hour", "samples", "requests", "tokens", "s", "RSS MiB")
	m := memory{}
	for samples := 1; ; samples++ {
		_, err := run.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
		if samples%60 == 0 {
			m.look()
		}
		if hour := time.Duration(samples) * sc.Interval; hour%time.Hour == 0 {
			t := run.Tally()
			m.hours = append(m.hours, resident("VmRSS"))
			fmt.Fprintf(out, "%6.0f %10d %10d %12d %8.1f %8.0f\n", hour.Hours(), samples, t.Arrived, t.Sampled, time.Since(begun).Seconds(), mib(m.hours[len(m.hours)-1]))
		}
	}
	took, cpu := time.Since(begun), cpuTime()-used
	fmt.Fprintf(out, "%.1f s, %.1f CPU s; peak heap %.0f MiB, peak RSS %.0f MiB; RSS after 1 h %.0f MiB, after %d h %.0f MiB\n",
		took.Seconds(), cpu.Seconds(), mib(m.heap), mib(resident("VmHWM")), mib(m.hours[0]), len(m.hours), mib(m.hours[len(m.hours)-1]))
	verdict := "met"
	if took > dayAim {
		verdict = "missed"
	}
	fmt.Fprintf(out, "aim of %s: %s\n", dayAim, verdict)
	return true, nil
}

// memory is what the process has been seen to take.
type memory struct {
	heap  uint64   // most bytes in objects, those not yet collected included
	hours []uint64 // RSS after each hour of the day
}

func (m *memory) look() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	m.heap = max(m.heap, s[0].Value.Uint64())
}

// resident is a size in /proc/self/status, in bytes; 0 where there is none.
func resident(field string) (bytes uint64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &bytes)
		}
	}
	return bytes << 10
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// cpuTime is what this process has used of the CPUs.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
