package record

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"llmtop/probes"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// BenchmarkEncode is the writer's CPU a sample without the disk, and the bytes a frame takes.
//
//	go test -run xxx -bench Encode ./probes/record
func BenchmarkEncode(b *testing.B) {
	for _, requests := range []int{0, 20} {
		b.Run(map[int]string{0: "aggregates", 20: "20-requests"}[requests], func(b *testing.B) {
			gen := newSynthetic(requests)
			samples := make([]*probes.Sample, 1024)
			for i := range samples {
				samples[i] = gen.next()
			}
			a, err := newAppender(discard{}, Manifest{})
			if err != nil {
				b.Fatal(err)
			}
			before, n := a.size, 0
			cpu := cpuTime()
			b.ReportAllocs()
			for b.Loop() {
				if err := a.write(item{sample: samples[n%len(samples)]}); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(a.size-before)/float64(n), "B/frame")
			b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(n), "µs-CPU/frame")
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Truncate(int64) error        { return nil }
func (discard) Sync() error                 { return nil }
func (discard) Close() error                { return nil }

// BenchmarkDay writes the synthetic day (day_test.go), opens it, seeks in it and reads
// it in order, without and with 20 finished requests a second, and writes the same
// samples as JSON lines into one zstd stream, the usual way, to compare.
//
//	go test -run xxx -bench Day -benchtime 1x ./probes/record
//
// With LLMTOP_DAY_DIR the files stay there, day-0.llmrec and day-20.llmrec, for other benchmarks.
func BenchmarkDay(b *testing.B) {
	for _, requests := range []int{0, 20} {
		b.Run(map[int]string{0: "aggregates", 20: "20-requests"}[requests], func(b *testing.B) {
			path := filepath.Join(cmp.Or(os.Getenv("LLMTOP_DAY_DIR"), b.TempDir()), fmt.Sprintf("day-%d.llmrec", requests))
			b.Run("write", func(b *testing.B) {
				for b.Loop() {
					writeDay(b, path, requests)
				}
			})
			b.Run("open-by-index", func(b *testing.B) { openDay(b, path, 0) })
			b.Run("open-by-scan", func(b *testing.B) { openDay(b, path, 20) })
			b.Run("seek", func(b *testing.B) { seekDay(b, path) })
			b.Run("scan", func(b *testing.B) { scanDay(b, path) })
		})
	}
}

// writeDay writes the day to path and reports what that took.
func writeDay(b *testing.B, path string, requests int) {
	os.Remove(path)
	f, err := createFile(path)
	if err != nil {
		b.Fatal(err)
	}
	a, err := newAppender(f, Manifest{Interval: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	gen, lines := newDay(requests), newJSONLines(b)
	batch := make([]*probes.Sample, 100)
	var cpu time.Duration
	for range daySamples / len(batch) {
		for i := range batch {
			batch[i] = gen.next()
		}
		before := cpuTime()
		for _, s := range batch {
			if err := a.write(item{sample: s}); err != nil {
				b.Fatal(err)
			}
		}
		cpu += cpuTime() - before
		for _, s := range batch {
			lines.write(b, s)
		}
	}
	if err := a.end(); err != nil {
		b.Fatal(err)
	}
	f.Close()
	ours, theirs := float64(a.size)/daySamples, float64(lines.close())/daySamples
	b.ReportMetric(ours, "B/sample")
	b.ReportMetric(theirs, "B/sample-NDJSON")
	b.ReportMetric(ours/theirs, "ratio")
	b.ReportMetric(float64(cpu.Nanoseconds())/1e3/daySamples, "µs-CPU/sample")
}

func openOnce(b *testing.B, path string) *Reader {
	r, err := Open(path)
	if err != nil || r.Len() != daySamples {
		b.Fatal(err)
	}
	return r
}

// openDay opens the file, less so many bytes at its end: without index.
func openDay(b *testing.B, path string, cut int64) {
	whole, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	other := path + ".cut"
	if err := os.WriteFile(other, data[:whole.Size()-cut], 0o600); err != nil {
		b.Fatal(err)
	}
	data = nil
	for b.Loop() {
		openOnce(b, other).Close()
	}
}

func seekDay(b *testing.B, path string) {
	r := openOnce(b, path)
	defer r.Close()
	rng := rand.New(rand.NewSource(1))
	var took []time.Duration
	for b.Loop() {
		for range 1000 {
			start := time.Now()
			if _, err := r.At(rng.Intn(daySamples)); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(ms(took[len(took)-1]), "worst-ms")
}

func scanDay(b *testing.B, path string) {
	r := openOnce(b, path)
	defer r.Close()
	b.ReportAllocs()
	cpu, read, start := cpuTime(), 0, time.Now()
	var peak uint64
	for b.Loop() {
		for r.Seek(0); ; read++ {
			if _, err := r.Next(context.Background()); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			if read%20_000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	}
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(read), "µs-CPU/sample")
	b.ReportMetric(float64(read)/time.Since(start).Seconds(), "samples/s")
	b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
}

// jsonLines is the size of samples as JSON lines in one zstd stream.
type jsonLines struct {
	out  counter
	keys []string // of the series, quoted
	z    *zstd.Encoder
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func newJSONLines(b *testing.B) *jsonLines {
	l := new(jsonLines)
	z, err := zstd.NewWriter(&l.out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	l.z = z
	return l
}

func (l *jsonLines) write(b *testing.B, s *probes.Sample) {
	line, err := json.Marshal(s)
	if err != nil {
		b.Fatal(err)
	}
	line = append(line[:len(line)-1], `,"scrape":{`...)
	for _, sc := range s.Scrapes {
		for i, v := range sc.Values {
			if i > 0 {
				line = append(line, ',')
			}
			if i == len(l.keys) {
				l.keys = append(l.keys, strconv.Quote(sc.Schema.Series[i].Key()))
			}
			line = append(line, l.keys[i]...)
			line = strconv.AppendFloat(append(line, ':'), v, 'g', -1, 64)
		}
	}
	l.z.Write(append(line, "}}\n"...))
}

func (l *jsonLines) close() int {
	l.z.Close()
	return int(l.out)
}

// cpuTime is the CPU time of this process so far, which other load does not change.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
