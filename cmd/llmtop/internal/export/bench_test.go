package export

import (
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
)

// aDay is a recording of 86,400 samples like those of the incident, without its requests.
func aDay(b *testing.B) string {
	b.Helper()
	from := open(b, incident)
	path := filepath.Join(b.TempDir(), "day.llmrec")
	c, err := record.NewCopy(path, record.Manifest{Interval: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 86_400 {
		original, err := from.At(i % from.Len())
		if err != nil {
			b.Fatal(err)
		}
		s := *original
		s.Seq, s.At, s.Mono = uint64(i)+1, second(float64(i)), time.Duration(i)*time.Second
		s.Requests, s.Profile, s.Events = nil, nil, nil
		s.Scrapes = nil
		for _, p := range original.Scrapes {
			page := *p
			page.At = s.At
			s.Scrapes = append(s.Scrapes, &page)
		}
		host, process := *s.Host, probes.Process{}
		if s.Process != nil {
			process = *s.Process
		}
		host.At, process.At = s.At, s.At
		s.Host, s.Process = &host, &process
		if err := c.Add(b.Context(), record.Entry{Sample: &s}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := c.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkDay exports a day: how long it takes, and how much memory at most. Run it with -benchtime 1x.
func BenchmarkDay(b *testing.B) {
	path := aDay(b)
	for _, c := range []struct {
		name  string
		write func(r *record.Reader, o Options) error
	}{
		{"csv", func(r *record.Reader, o Options) error { return CSV(b.Context(), io.Discard, r, o) }},
		{"openmetrics", func(r *record.Reader, o Options) error { return OpenMetrics(b.Context(), io.Discard, r, o) }},
		{"openmetrics-raw", func(r *record.Reader, o Options) error {
			o.Raw, o.Signals = true, o.Signals[:1]
			return OpenMetrics(b.Context(), io.Discard, r, o)
		}},
		{"perfetto", func(r *record.Reader, o Options) error {
			_, err := Trace(b.Context(), io.Discard, r, o)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r := open(b, path)
				o := whole(r)
				runtime.GC()
				var peak uint64
				n := 0
				o.Progress = func(int, int) {
					if n++; n%1000 == 0 {
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapInuse)
					}
				}
				if err := c.write(r, o); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
			}
		})
	}
}
