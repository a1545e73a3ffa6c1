package record

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand"
	"os"
	"path/filepath"
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
			samples := make([]*probes.Sample, 64*groupSize)
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

// day writes n samples straight to memory, as fast as it goes.
func day(b *testing.B, n, requests int) []byte {
	b.Helper()
	gen := newSynthetic(requests)
	samples := gen.many(4 * groupSize)
	d := newDisk()
	a, err := newAppender(d, Manifest{Interval: 1e9})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		c := *samples[i%len(samples)]
		c.Seq, c.At, c.Mono = uint64(i+1), gen.start.Add(time.Duration(i)*time.Second), time.Duration(i)*time.Second
		if err := a.write(item{sample: &c}); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.end(); err != nil {
		b.Fatal(err)
	}
	return d.data
}

// BenchmarkDay opens, seeks in and reads a day at 1 Hz.
//
//	go test -run xxx -bench Day ./probes/record
func BenchmarkDay(b *testing.B) {
	const n = 86400
	data := day(b, n, 0)
	path := filepath.Join(b.TempDir(), "day.llmrec")
	cut := filepath.Join(b.TempDir(), "cut.llmrec")
	if os.WriteFile(path, data, 0o600) != nil || os.WriteFile(cut, data[:len(data)-20], 0o600) != nil {
		b.Fatal("no room for a day")
	}
	openOnce := func(b *testing.B, path string) *Reader {
		r, err := Open(path)
		if err != nil || r.Len() != n {
			b.Fatal(err)
		}
		return r
	}
	b.Run("open-by-index", func(b *testing.B) {
		for b.Loop() {
			openOnce(b, path).Close()
		}
	})
	b.Run("open-by-scan", func(b *testing.B) {
		for b.Loop() {
			openOnce(b, cut).Close()
		}
	})
	b.Run("seek", func(b *testing.B) {
		r := openOnce(b, path)
		defer r.Close()
		rng := rand.New(rand.NewSource(1))
		var worst time.Duration
		for b.Loop() {
			start := time.Now()
			if _, err := r.At(rng.Intn(n)); err != nil {
				b.Fatal(err)
			}
			worst = max(worst, time.Since(start))
		}
		b.ReportMetric(float64(worst.Microseconds()), "worst-µs")
	})
	b.Run("next", func(b *testing.B) {
		r := openOnce(b, path)
		defer r.Close()
		b.ReportAllocs()
		cpu, read := cpuTime(), 0
		for b.Loop() {
			read++
			if _, err := r.Next(context.Background()); err == io.EOF {
				r.Seek(0)
			} else if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(read), "µs-CPU/sample")
	})
}

// BenchmarkYardstick writes the same samples as JSON lines into one zstd stream, the
// usual way, and as a recording, and reports the bytes a sample of both and their ratio.
//
//	go test -run xxx -bench Yardstick -benchtime 1x ./probes/record
func BenchmarkYardstick(b *testing.B) {
	for _, requests := range []int{0, 20} {
		b.Run(map[int]string{0: "aggregates", 20: "20-requests"}[requests], func(b *testing.B) {
			const n = 1800
			for b.Loop() {
				samples := newSynthetic(requests).many(n)
				lines := float64(jsonLines(b, samples)) / n
				d := newDisk()
				a, err := newAppender(d, Manifest{})
				if err != nil {
					b.Fatal(err)
				}
				before := cpuTime()
				for _, s := range samples {
					if err := a.write(item{sample: s}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime()-before).Microseconds())/n, "µs-CPU/sample")
				ours := float64(a.size) / n
				b.ReportMetric(lines, "B/sample-NDJSON")
				b.ReportMetric(ours, "B/sample")
				b.ReportMetric(ours/lines, "ratio")
			}
		})
	}
}

// jsonLines is the size of the samples as JSON lines in one zstd stream.
func jsonLines(b *testing.B, samples []*probes.Sample) int {
	b.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range samples {
		values := map[string]float64{}
		for _, sc := range s.Scrapes {
			for i := range sc.Values {
				values[sc.Schema.Series[i].Key()] = sc.Values[i]
			}
		}
		line, err := json.Marshal(struct {
			*probes.Sample
			Scrape map[string]float64 `json:"scrape"`
		}{s, values})
		if err != nil {
			b.Fatal(err)
		}
		z.Write(append(line, '\n'))
	}
	z.Close()
	return out.Len()
}

// cpuTime is the CPU time of this process so far, which other load does not change.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
