package scrape

import (
	"fmt"
	"strings"
	"testing"
)

// vllmPage is a page of a busy vLLM in size and shape, with invented values.
func vllmPage(families int, step float64) []byte {
	var b strings.Builder
	bounds := []string{"0.001", "0.005", "0.01", "0.02", "0.04", "0.06", "0.08", "0.1", "0.25", "0.5", "0.75", "1.0", "2.5", "5.0", "7.5", "10.0", "20.0", "40.0", "80.0", "160.0", "640.0", "2560.0", "+Inf"}
	for f := range families {
		name := fmt.Sprintf("vllm:stage_%d_seconds", f)
		fmt.Fprintf(&b, "# HELP %s Histogram of something in seconds.\n# TYPE %s histogram\n", name, name)
		for i, le := range bounds {
			fmt.Fprintf(&b, "%s_bucket{engine=\"0\",le=\"%s\",model_name=\"some-lab/a-model-of-70b-instruct\"} %.1f\n", name, le, float64(i*f)+step)
		}
		fmt.Fprintf(&b, "%s_count{engine=\"0\",model_name=\"some-lab/a-model-of-70b-instruct\"} %.1f\n", name, 22*float64(f)+step)
		fmt.Fprintf(&b, "%s_sum{engine=\"0\",model_name=\"some-lab/a-model-of-70b-instruct\"} %v\n", name, 1234.567890123*float64(f)+step/3)
	}
	return []byte(b.String())
}

// BenchmarkParse measures a page of 600 series that keeps its shape, and one
// that the parser meets for the first time.
func BenchmarkParse(b *testing.B) {
	page := vllmPage(24, 17)
	b.Run("same shape", func(b *testing.B) {
		p := NewParser(0)
		p.Parse(page)
		b.ReportAllocs()
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			if s, _ := p.Parse(page); len(s.Values) != 600 {
				b.Fatal(len(s.Values))
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s := Parse(page); len(s.Values) != 600 {
				b.Fatal(len(s.Values))
			}
		}
	})
}
