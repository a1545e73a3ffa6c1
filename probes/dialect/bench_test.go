package dialect

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

// busyPage is a page of a vLLM with 8 data-parallel engines: the families of the
// fixture, each series once an engine, up to 75 KB.
func busyPage(t testing.TB) []byte {
	t.Helper()
	const size, engines = 75 << 10, "01234567"
	text, err := os.ReadFile(filepath.Join(expositions, "vllm-v1.prom"))
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	for line := range strings.Lines(string(text)) {
		before, after, many := strings.Cut(line, `engine="0"`)
		switch {
		case strings.HasPrefix(line, "#>"):
		case !many:
			page.WriteString(line)
		default:
			for _, e := range engines {
				page.WriteString(before + `engine="` + string(e) + `"` + after)
			}
		}
		if page.Len() >= size {
			break
		}
	}
	return page.Bytes()
}

// inProcess answers with the page without a socket.
type inProcess []byte

func (page inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain; version=0.0.4"}},
		Body: io.NopCloser(bytes.NewReader(page)), ContentLength: int64(len(page)), Request: r}, nil
}

// BenchmarkPage is what one look at a busy vLLM costs: fetching its page of 75 KB in
// process (net/http without the socket), parsing and mapping it; a page of the shape
// of the one before, and the first of an endpoint. At most 2 ms and 1 MB are wanted.
func BenchmarkPage(b *testing.B) {
	page := busyPage(b)
	look := func(b *testing.B, p *scrape.Probe, d *Decoder) {
		section, err := p.Read(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if e := d.Decode(section.(*probes.Scrape)); e == nil || e.TTFT == nil || e.Running.Or(0) != 8*6 {
			b.Fatalf("got %+v", e)
		}
	}
	b.Run("same shape", func(b *testing.B) {
		p, d := scrape.New("gpu-7:8000", scrape.Options{Transport: inProcess(page)}), NewDecoder()
		look(b, p, d)
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			look(b, p, d)
		}
	})
	b.Run("first", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			look(b, scrape.New("gpu-7:8000", scrape.Options{Transport: inProcess(page)}), NewDecoder())
		}
	})
}
