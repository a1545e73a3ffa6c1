package record

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"llmtop/probes"
)

// write makes a recording of the samples in a temporary folder and returns its path.
func write(t testing.TB, samples []*probes.Sample) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.llmrec")
	w, err := Create(path, Manifest{Version: "test", Created: time.Unix(1, 0).UTC(), Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns all samples that Next gives.
func read(t testing.TB, r *Reader) []*probes.Sample {
	t.Helper()
	var out []*probes.Sample
	for {
		s, err := r.Next(context.Background())
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
}

func open(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// assertSame fails unless two samples are equal, floats bit for bit.
func assertSame(t testing.TB, got, want *probes.Sample) {
	t.Helper()
	if !reflect.DeepEqual(bitwise(got), bitwise(want)) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Fatalf("sample %d differs:\n got %s\nwant %s", want.Seq, g, w)
	}
}

// bitwise replaces the values of scrapes by their bits, since NaN differs from itself.
func bitwise(s *probes.Sample) any {
	c := *s
	c.Scrapes = nil
	var scrapes []any
	for _, sc := range s.Scrapes {
		h := *sc
		bits := make([]uint64, len(h.Values))
		for i, v := range h.Values {
			bits[i] = math.Float64bits(v)
		}
		h.Values = nil
		scrapes = append(scrapes, h, bits)
	}
	return []any{c, scrapes}
}

func TestSyntheticSamplesComeBackAsTheyWere(t *testing.T) {
	gen := newSynthetic(20)
	var samples []*probes.Sample
	for range 50 {
		samples = append(samples, gen.next())
	}
	r := open(t, write(t, samples))
	got := read(t, r)
	if len(got) != len(samples) {
		t.Fatalf("%d samples, want %d", len(got), len(samples))
	}
	for i := range got {
		assertSame(t, got[i], samples[i])
	}
	if i := r.Info(); i.Damaged != 0 || !i.CleanClose || i.Samples != 50 {
		t.Errorf("info %+v", i)
	} else {
		t.Logf("%.0f B/sample", i.BytesPerSample)
	}
}
