package record

import (
	"math"
	"testing"
	"unsafe"

	"llmtop/probes"

	"pgregory.net/rapid"
)

func TestBitsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type word struct {
			kind int
			v    uint64
			n    uint
		}
		words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) word {
			w := word{kind: rapid.IntRange(0, 3).Draw(t, "kind"), n: rapid.UintRange(0, maxRice).Draw(t, "n")}
			w.v = rapid.Uint64().Draw(t, "v") >> rapid.IntRange(0, 63).Draw(t, "shift")
			return w
		}), 1, 200).Draw(t, "words")
		var w bitWriter
		for _, x := range words {
			switch x.kind {
			case 0:
				w.bits(x.v&(1<<x.n-1), x.n)
			case 1:
				w.wide(max(x.v, 1))
			case 2:
				w.word(x.v)
			case 3:
				if !w.rice(x.v, x.n) {
					w.wide(max(x.v, 1))
				}
			}
		}
		r := bitReader{b: w.end()}
		for i, x := range words {
			want, got := x.v, uint64(0)
			switch x.kind {
			case 0:
				want, got = x.v&(1<<x.n-1), r.bits(x.n)
			case 1:
				want, got = max(x.v, 1), r.wide()
			case 2:
				got = r.word()
			case 3:
				var ok bool
				if got, ok = r.rice(x.n); !ok {
					want, got = max(x.v, 1), r.wide()
				}
			}
			if got != want || r.err != nil {
				t.Fatalf("word %d: %d, want %d, %v", i, got, want, r.err)
			}
		}
		if r.left() >= 8 {
			t.Errorf("%d bits left", r.left())
		}
		if r.bits(56); r.err == nil {
			t.Error("there are bits after the end")
		}
	})
}

func TestModesGiveBackTheBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Float64bits(anyFloat(t))
		mode := modeOf(v)
		if m, ok := scaled(v, mode); !ok || fromMode(m, mode) != v {
			t.Errorf("%x has mode %d and comes back as %x", v, mode, fromMode(m, mode))
		}
		other := rapid.Uint8Range(0, modeLimit-1).Draw(t, "mode")
		if m, ok := scaled(v, other); ok && (fromMode(m, other) != v || other != modeBits && !fitsMode(m)) {
			t.Errorf("%x in mode %d: %d", v, other, m)
		}
	})
}

// anyFloat draws what pages hold, and what they should not.
func anyFloat(t *rapid.T) float64 {
	switch rapid.IntRange(0, 5).Draw(t, "float") {
	case 0:
		return float64(rapid.IntRange(0, 50).Draw(t, "count"))
	case 1:
		return float64(rapid.Int64Range(0, 1e12).Draw(t, "m")) / pow10[rapid.IntRange(0, 9).Draw(t, "places")]
	case 2:
		return math.Ldexp(float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "m")), -rapid.IntRange(0, 70).Draw(t, "e"))
	case 3:
		return rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1 << 53, 1<<53 + 2, -1 << 60, 5e-324}).Draw(t, "odd")
	case 4:
		return math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
	}
	return 1024 * float64(rapid.IntRange(0, 1000).Draw(t, "kibi"))
}

// anySpec draws a way in which a column of a page may be written.
func anySpec(t *rapid.T) spec {
	s := spec{
		dense: rapid.Bool().Draw(t, "dense"), by: rapid.Uint8Range(0, predictors-1).Draw(t, "by"),
		mode: rapid.SampledFrom([]uint8{0, 0, 0, 2, 6, 9, modeBits, modeThousand, modeKibi, modeBinary + 1, modeBinary + 33, modeLimit - 1}).Draw(t, "mode"),
	}
	if !s.allowed(true) {
		s.by = byBefore
	}
	return s
}

// TestAnyPageInAnySpec writes rows of any values in columns of any spec: whatever the
// writer chooses must come back bit for bit.
func TestAnyPageInAnySpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "columns")
		page := &table{columns: make([]column, n), tally: newTally(n)}
		for i := range page.columns {
			page.columns[i] = column{spec: anySpec(t), level: levelOf(rapid.UintRange(0, maxRice).Draw(t, "k"))}
		}
		page.split()
		var e encoder
		e.specs(page)
		rows := make([][]float64, rapid.IntRange(1, 12).Draw(t, "rows"))
		var old []float64
		for i := range rows {
			rows[i] = make([]float64, n)
			for j := range rows[i] {
				if old != nil && rapid.Bool().Draw(t, "still") {
					rows[i][j] = old[j]
				} else {
					rows[i][j] = anyFloat(t)
				}
			}
			e.page(page, rows[i], old)
			old = rows[i]
		}
		d := decoder{bitReader: bitReader{b: e.end()}}
		read := &table{columns: make([]column, n)}
		old = nil
		for i, want := range rows {
			got := make([]float64, n)
			if d.page(read, got, old); d.err != nil {
				t.Fatalf("row %d: %v", i, d.err)
			}
			for j := range got {
				if math.Float64bits(got[j]) != math.Float64bits(want[j]) {
					t.Fatalf("row %d: column %d, %+v: %x, want %x", i, j, page.columns[j].spec, math.Float64bits(got[j]), math.Float64bits(want[j]))
				}
			}
			old = got
		}
	})
}

// TestAnyFieldMayBeUnknown decodes frames in which any fields have other names: those
// that are known come back, wherever they stand.
func TestAnyFieldMayBeUnknown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ownLayout()
		renamed := map[string]bool{}
		for i := range l.Types {
			for j := range l.Types[i].Fields {
				f := &l.Types[i].Fields[j]
				f.Sum = append([]string(nil), f.Sum...)
				for k := range f.Sum {
					if renamed[l.Types[i].Name+f.Sum[k]] {
						f.Sum[k] += "_of_tomorrow"
					}
				}
				if f.With != "" && renamed[l.Types[i].Name+f.With] {
					f.With += "_of_tomorrow"
				}
				if rapid.IntRange(0, 5).Draw(t, f.Name) == 0 {
					renamed[l.Types[i].Name+f.Name] = true
					f.Name += "_of_tomorrow"
				}
			}
		}
		samples := newSmall().rich(30)
		root, err := bind(l)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range decodeWith(t, l, samples) {
			assertKnown(t, root, unsafe.Pointer(got), unsafe.Pointer(samples[i]), i)
		}
	})
}

// assertKnown fails unless the fields that the plan knows are those of want, and its sections too.
func assertKnown(t *rapid.T, p *plan, got, want unsafe.Pointer, i int) {
	for j := range p.slots {
		if s := &p.slots[j]; s.goType != nil && s.class != classBlob && s.class != classJSON && s.differs(got, want) {
			t.Fatalf("sample %d: %s.%s differs", i, p.name, s.Name)
		}
	}
	for j := range p.nested {
		s := &p.nested[j]
		if s.goType == nil {
			continue
		}
		if s.class == classSection {
			if g, w := *s.pointer(got), *s.pointer(want); (g == nil) != (w == nil) {
				t.Fatalf("sample %d: %s.%s is there, or not", i, p.name, s.Name)
			} else if g != nil {
				assertKnown(t, s.sub, g, w, i)
			}
			continue
		}
		g, w := s.structs(got, nil), s.structs(want, nil)
		if len(g) != len(w) {
			t.Fatalf("sample %d: %s.%s has %d, want %d", i, p.name, s.Name, len(g), len(w))
		}
		for k := range g {
			assertKnown(t, s.sub, g[k], w[k], i)
			if s.class == classScrapes {
				assertValues(t, (*probes.Scrape)(g[k]), (*probes.Scrape)(w[k]), i)
			}
		}
	}
}

func assertValues(t *rapid.T, got, want *probes.Scrape, i int) {
	for j, v := range want.Values {
		if math.Float64bits(got.Values[j]) != math.Float64bits(v) {
			t.Fatalf("sample %d: value %d differs", i, j)
		}
	}
}
