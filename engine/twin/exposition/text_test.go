package exposition

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// A model may have any name: what a page cannot carry is cleaned, all else is escaped.
func TestNamesAreEscaped(t *testing.T) {
	for _, c := range []struct{ name, label string }{
		{`a"b\c`, `model_name="a\"b\\c"`},
		{"two\nlines", `model_name="two lines"`},
		{"ünï, {x} = 1", `model_name="ünï, {x} = 1"`},
		{"bad \xff byte", "model_name=\"bad \ufffd byte\""},
		{strings.Repeat("x", 5000), `model_name="` + strings.Repeat("x", 1000)},
	} {
		info := sampleInfo()
		info.Model = c.name
		for _, name := range []string{"llmtop", "vllm", "sglang", "trtllm"} {
			p, err := New(name, info)
			if err != nil {
				t.Fatal(err)
			}
			newReader(p).read(t, midnight, nil)
			schema, values := p.Scrape(midnight, nil)
			var text bytes.Buffer
			if err := WriteText(&text, schema, values); err != nil || !strings.Contains(text.String(), c.label) {
				t.Errorf("%s: no %.40s… on the page (%v)", name, c.label, err)
			}
		}
	}
}

// Each family has one TYPE line, and its series stand together.
func TestFamiliesStandTogether(t *testing.T) {
	for _, name := range Names() {
		seen := map[string]bool{}
		s := livedPage(t, name)
		for i, x := range s.Schema.Series {
			if i > 0 && s.Schema.Series[i-1].Family == x.Family {
				continue
			}
			if seen[x.Family] {
				t.Errorf("%s: %s comes twice", name, x.Family)
			}
			seen[x.Family] = true
		}
	}
}

// A page of each engine, to be read by people.
func TestGoldenPages(t *testing.T) {
	for _, name := range Names() {
		info := sampleInfo()
		info.Context = 4096
		l := newLife(21, info)
		p, err := New(name, info)
		if err != nil {
			t.Fatal(err)
		}
		l.pages = []Page{p}
		for range 120 {
			l.step()
		}
		schema, values := p.Scrape(l.now, &l.state)
		var got bytes.Buffer
		if err := WriteText(&got, schema, values); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".prom")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: the page is another than in %s", name, path)
		}
	}
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name string
		info Info
		want string
	}{
		{"ollama", sampleInfo(), `there is no personality "ollama"; there are llmtop, vllm, sglang, tgi, llamacpp, trtllm`},
		{"vllm", Info{BlockSize: 16}, "0 KV blocks"},
		{"vllm", Info{Blocks: 10}, "of 0 tokens"},
	} {
		if _, err := New(c.name, c.info); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The moments cost next to nothing and allocate nothing.
func TestMomentsDoNotAllocate(t *testing.T) {
	for _, name := range Names() {
		p, s, r := busy(t, name)
		if n := testing.AllocsPerRun(100, func() {
			p.Arrived(s.At, 100)
			p.Queued(r)
			p.Admitted(r)
			p.First(r)
			p.Stalled(.1)
			p.Step(s)
			p.Finished(r)
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// busy is a page, and a step and a request for it; both have been on it.
func busy(t testing.TB, name string) (Page, *Step, *Request) {
	info := sampleInfo()
	info.Drafts = 3
	l := newLife(1, info)
	p, err := New(name, info)
	if err != nil {
		t.Fatal(err)
	}
	l.pages = []Page{p}
	for range 200 {
		l.step()
	}
	r := &living{want: 100, whole: "stop"}
	l.arrive()
	r = l.waiting[len(l.waiting)-1]
	r.TTFT, r.TPOT, r.Output, r.Cached, r.Finish = .2, .03, 50, 5, "stop"
	now := l.state
	s := &Step{At: l.now, Seconds: .03, Host: .002, Prefills: 1, Prefill: 200, Decodes: 100, Decode: 150, First: 1, Gap: .03, Gapped: 98,
		Drafts: 100, Drafted: 300, Accepted: 50, Queries: 300, Hits: 100, Preempts: 1, Now: &now}
	p.Step(s)
	p.Finished(&r.Request)
	return p, s, &r.Request
}

func BenchmarkStep(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			p, s, _ := busy(b, name)
			for b.Loop() {
				p.Step(s)
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			p, s, r := busy(b, name)
			for b.Loop() {
				p.Arrived(s.At, 100)
				p.Queued(r)
				p.Admitted(r)
				p.First(r)
				p.Finished(r)
			}
		})
	}
}

func BenchmarkScrape(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			p, s, _ := busy(b, name)
			at := s.At
			for b.Loop() {
				at = at.Add(time.Second)
				p.Scrape(at, s.Now)
			}
		})
	}
}

func BenchmarkObserve(b *testing.B) {
	s := newSeries(&row{bounds: firstTokenBounds}, 0)
	v := 0.0
	for b.Loop() {
		if v += .013; v > 3 {
			v = 0
		}
		s.observe(v, 20)
	}
}
