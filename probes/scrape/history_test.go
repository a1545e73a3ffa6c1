package scrape

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzHistory: what a parser has met changes nothing of what it reads next, but for a
// page that was cut, whose last line goes.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("a 1\n"), []byte("a 2\n"))
	f.Add([]byte("a 1\nb 20480\n"), []byte("a 1\nb 20"))
	f.Add([]byte("# TYPE a counter\na{b=\"c\"} 1\nbad\n"), []byte("# TYPE a gauge\na{b=\"c\"} 1\nbad"))
	f.Add([]byte("# TYPE a counter\n# TYPE a counter\na 1 5\n"), []byte("# TYPE\ta  counter \na 1 # {} 5\n"))
	if page, err := os.ReadFile("../../testdata/expositions/hostile.prom"); err == nil {
		f.Add(page, page[:len(page)/2])
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p := NewParser(20)
		p.Parse(first)
		got, gotMore := p.Parse(second)
		page, cut := bytes.TrimPrefix(second, []byte("\ufeff")), 0
		if bytes.HasSuffix(first, []byte("\n")) && len(page) > 0 && !bytes.HasSuffix(page, []byte("\n")) && string(first) != "\ufeff" {
			page, cut = page[:bytes.LastIndexByte(page, '\n')+1], 1
		}
		want, wantMore := NewParser(20).Parse(page)
		if dump(got) != dump(want) || got.Dropped != want.Dropped+cut || gotMore != wantMore {
			t.Fatalf("after %q, %q reads\n%s(%d dropped, %d more), alone\n%s(%d dropped, %d more)", first, second, dump(got), got.Dropped, gotMore, dump(want), want.Dropped, wantMore)
		}
	})
}

// Every fixture, cut at every byte after a whole page: no value is there that the
// whole page does not have.
func TestCutAnywhere(t *testing.T) {
	paths, _ := filepath.Glob("../../testdata/expositions/vllm-*.prom")
	if len(paths) == 0 {
		t.Fatal("no fixtures")
	}
	for _, path := range paths {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page = page[:min(len(page), 1500)]
		page = page[:bytes.LastIndexByte(page, '\n')+1]
		p := NewParser(0)
		whole, _ := p.Parse(page)
		for n := 1; n < len(page); n++ {
			s, _ := p.Parse(page[:n])
			for i := range s.Values {
				if s.Values[i] != whole.Values[i] || s.Schema.Series[i].Key() != whole.Schema.Series[i].Key() {
					t.Fatalf("%s cut at %d: %s is %v, was %v", path, n, s.Schema.Series[i].Key(), s.Values[i], whole.Values[i])
				}
			}
		}
	}
}

// FuzzPlain: where the short way says something, expfmt says the same.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		"a", "a:b_c1", `a{b="c"}`, `a{z="1",b="2"}`, `a{b="\u202e\x1b[31m"}`, `a{b=""}`, `a{__name__="x"}`, `a{b="1",b="2"}`,
		`a{b="\\"}`, `a{}`, `a{b="c",}`, `9a`, `a{9="x"}`, `a{b:c="x"}`, `a{b="c"}x`, "a{b=\"caf\xe9\"}", `a{b="}"}`, `{a="b"}`, `a{b="c",c="d"`,
	} {
		f.Add(text)
	}
	n := newNames(10)
	f.Fuzz(func(t *testing.T, text string) {
		raw, _, ok := splitSample([]byte(text + " 1"))
		if !ok || strings.ContainsAny(text, "\r\n") { // decode gets what was cut off a line
			return
		}
		text = string(raw)
		got := plain(text)
		if got == nil {
			return
		}
		want := n.decode(text)
		if want == nil || want.name != got.name || want.text != got.text || !slices.Equal(want.labels, got.labels) {
			t.Fatalf("%q: got %+v, expfmt says %+v", text, got, want)
		}
	})
}
