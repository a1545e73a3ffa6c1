package record

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"llmtop/probes"

	"pgregory.net/rapid"
)

// fill sets every exported field reachable from v to something drawn, so that a
// field added to a section is under test from the day it is added.
func fill(t *rapid.T, v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *probes.Opt[float64]:
		*p = probes.None[float64](probes.Absence(rapid.IntRange(0, 5).Draw(t, "why")))
		if rapid.Bool().Draw(t, "seen") {
			*p = probes.Some(number64(t))
		}
		return
	case *probes.Opt[uint64]:
		*p = probes.None[uint64](probes.Absence(rapid.IntRange(0, 5).Draw(t, "why")))
		if rapid.Bool().Draw(t, "seen") {
			*p = probes.Some(rapid.Uint64().Draw(t, "u"))
		}
		return
	case *time.Time:
		*p = moment(t)
		return
	case *[]byte:
		if *p = nil; rapid.Bool().Draw(t, "raw") {
			*p = rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes")
		}
		return
	case **probes.Schema:
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "b"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "decode", "é世界", "0123456789abcdef", "0123456789", "id-00ff00ff00ff", "a rather long text that no table of texts would take in, at more than 64 bytes"}).Draw(t, "s"))
	case reflect.Float64:
		v.SetFloat(number64(t))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, -1, 77, math.MaxInt64, math.MinInt64}).Draw(t, "i"))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "u"))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 3).Draw(t, "n"); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				if v.Index(i).Kind() == reflect.Pointer {
					v.Index(i).Set(reflect.New(v.Type().Elem().Elem()))
					fill(t, v.Index(i).Elem())
				} else {
					fill(t, v.Index(i))
				}
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "nil") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	default:
		t.Fatalf("no idea how to fill a %s", v.Type())
	}
}

func number64(t *rapid.T) float64 {
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		return float64(rapid.IntRange(-5, 5).Draw(t, "small"))
	case 1:
		return float64(rapid.Int64().Draw(t, "decimal")) / 1e9
	case 2:
		return 1e6 * float64(rapid.IntRange(0, 5000).Draw(t, "mega"))
	case 3:
		return math.Copysign(0, -1)
	}
	return rapid.Float64().Draw(t, "float")
}

func moment(t *rapid.T) time.Time {
	switch rapid.IntRange(0, 9).Draw(t, "when") {
	case 0:
		return time.Time{}
	case 1:
		return time.Date(9999, 1, 2, 3, 4, 5, 6, time.UTC)
	}
	return time.Unix(1.77e9, rapid.Int64Range(0, 1e18).Draw(t, "ns")).UTC()
}

// randomSchemas are shared by scrapes as real ones are.
var randomSchemas = func() []*probes.Schema {
	s := []*probes.Schema{nil, {Series: []probes.Series{}}}
	for n := 1; n < 40; n += 13 {
		series := make([]probes.Series, n)
		for i := range series {
			series[i] = probes.Series{Name: "m", Type: probes.MetricType(i % 5), Labels: []probes.Label{{Name: "i", Value: string(rune('a' + i))}}}
		}
		s = append(s, &probes.Schema{Series: series})
	}
	return s
}()

func randomSample(t *rapid.T, i int, last *probes.Sample) *probes.Sample {
	s := new(probes.Sample)
	fill(t, reflect.ValueOf(s).Elem())
	s.At = time.Unix(1.77e9+int64(i), rapid.Int64Range(0, 1e9).Draw(t, "at")).UTC()
	s.Interval = rapid.SampledFrom([]time.Duration{time.Second, time.Second, time.Second, 0, -1}).Draw(t, "interval")
	for _, sc := range s.Scrapes {
		sc.Schema, sc.Values = rapid.SampledFrom(randomSchemas).Draw(t, "schema"), nil
		if sc.Schema != nil && len(sc.Schema.Series) > 0 {
			sc.Values = make([]float64, len(sc.Schema.Series))
			for i := range sc.Values {
				sc.Values[i] = math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
			}
		}
	}
	if last == nil {
		return s
	}
	from, to := reflect.ValueOf(last).Elem(), reflect.ValueOf(s).Elem()
	for i := range to.NumField() { // some sections are carried on
		if k := to.Field(i).Kind(); (k == reflect.Pointer || k == reflect.Slice) && rapid.Bool().Draw(t, "carry") {
			to.Field(i).Set(from.Field(i))
		}
	}
	return s
}

func TestAnySamplesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		a, err := newAppender(d, Manifest{})
		if err != nil {
			t.Fatal(err)
		}
		var samples []*probes.Sample
		var last *probes.Sample
		a.group = rapid.IntRange(1, 24).Draw(t, "group")
		for i := range rapid.IntRange(1, 60).Draw(t, "samples") {
			last = randomSample(t, i, last)
			samples = append(samples, last)
			if err := a.write(item{sample: last}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := newReader(memory(d.data), true)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, want := range samples {
			got, err := r.Next(context.Background())
			if err != nil {
				t.Fatalf("sample %d: %v", want.Seq, err)
			}
			if !reflect.DeepEqual(exactly(got), exactly(want)) {
				t.Fatalf("got\n%s\nwant\n%s", asJSON(got), asJSON(want))
			}
		}
		if _, err := r.Next(context.Background()); err != io.EOF {
			t.Fatalf("after the last: %v", err)
		}
	})
}

// exactly is a sample as values that compare by bits and by content, a schema
// without series being none.
func exactly(s *probes.Sample) any {
	for _, sc := range s.Scrapes {
		if sc.Values == nil {
			sc.Values = []float64{}
		}
	}
	return bitwise(s)
}

func TestSectionsThatWereNotRenewedStayThePointer(t *testing.T) {
	samples := newSmall().rich(3 * groupSize)
	for i := 20; i < 3*groupSize; i++ { // one section through several groups
		samples[i].Self = samples[20].Self
	}
	whole := recorded(t, samples)
	sequential, err := newReader(memory(whole), true)
	if err != nil {
		t.Fatal(err)
	}
	defer sequential.Close()
	got := read(t, sequential)
	for i := 1; i < len(samples); i++ {
		assertSharing(t, i, got[i-1], got[i], samples[i-1], samples[i])
	}
	random, err := newReader(memory(whole), true)
	if err != nil {
		t.Fatal(err)
	}
	defer random.Close()
	for _, i := range []int{groupSize + 40, 3, 2*groupSize + 1, groupSize, 3*groupSize - 1, 0, 2 * groupSize} {
		s, err := random.At(i)
		if err != nil {
			t.Fatal(err)
		}
		assertSame(t, s, samples[i])
		if again, _ := random.At(i); again != s {
			t.Errorf("sample %d is decoded twice", i)
		}
	}
}

func assertSharing(t *testing.T, i int, gotLast, got, wantLast, want *probes.Sample) {
	t.Helper()
	tests := map[string][2]bool{
		"self":    {got.Self == gotLast.Self, want.Self == wantLast.Self},
		"gpu":     {got.GPU == gotLast.GPU, want.GPU == wantLast.GPU},
		"profile": {got.Profile == gotLast.Profile, want.Profile == wantLast.Profile},
		"request": {got.Requests[0] == gotLast.Requests[0], want.Requests[0] == wantLast.Requests[0]},
		"scrape":  {got.Scrapes[0] == gotLast.Scrapes[0], want.Scrapes[0] == wantLast.Scrapes[0]},
		"schema":  {got.Scrapes[0].Schema == gotLast.Scrapes[0].Schema, true},
	}
	for name, tt := range tests {
		if tt[0] != tt[1] {
			t.Errorf("sample %d: %s shared %t, was %t", i, name, tt[0], tt[1])
		}
	}
}

// failer is a test or a check of rapid's.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// decodeWith decodes frames of this program's layout as if the file called its fields otherwise.
func decodeWith(t failer, l layout, samples []*probes.Sample) []*probes.Sample {
	t.Helper()
	file, root := newFrameFile(t)
	renamed, err := bind(l)
	if err != nil {
		t.Fatal(err)
	}
	e, d := newEncoder(root, file), newDecoder(renamed, asRead{file})
	var out []*probes.Sample
	var last, ref *probes.Sample
	for i, s := range samples {
		body, err := e.body(nil, s, last, i == 0)
		if err != nil {
			t.Fatal(err)
		}
		got := prefixOf(s, 1).sample()
		if err := d.body(body, got, ref, ref); err != nil || d.left() >= 8 {
			t.Fatalf("sample %d: %v, %d bits left", i, err, d.left())
		}
		out = append(out, got)
		last, ref = s, got
	}
	return out
}

func TestFieldsThatAreNotKnownHereAreReadPast(t *testing.T) {
	l := ownLayout()
	for i := range l.Types {
		for j := range l.Types[i].Fields {
			f := &l.Types[i].Fields[j]
			switch f.Name {
			case "uuid", "power_watts", "err", "finished", "process", "probes", "seconds", "stages.3":
				f.Name += "_of_tomorrow"
			}
			f.Sum = slices.Clone(f.Sum)
			for k := range f.Sum {
				if f.Sum[k] == "stages.3" {
					f.Sum[k] += "_of_tomorrow"
				}
			}
		}
	}
	samples := newSmall().rich(groupSize)
	for i, got := range decodeWith(t, l, samples) {
		want := samples[i]
		if got.Process != nil || got.Probes != nil || got.Requests[0].Finished != nil || got.GPU.Devices[1].UUID != "" {
			t.Fatalf("sample %d: unknown fields were read: %+v", i, got)
		}
		if !reflect.DeepEqual(got.Host, want.Host) || !reflect.DeepEqual(got.Events, want.Events) || !reflect.DeepEqual(got.Self, want.Self) {
			t.Fatalf("sample %d: known sections differ", i)
		}
		if g, w := got.GPU.Devices[1], want.GPU.Devices[1]; g.Name != w.Name || g.SMClockHertz != w.SMClockHertz || !g.At.Equal(w.At) {
			t.Fatalf("sample %d: device %+v, want %+v", i, g, w)
		}
		for j, v := range want.Scrapes[0].Values {
			if math.Float64bits(got.Scrapes[0].Values[j]) != math.Float64bits(v) {
				t.Fatalf("sample %d: value %d differs", i, j)
			}
		}
	}
}

func TestLayoutsThatCannotBeAreRefused(t *testing.T) {
	for name, bad := range map[string]layout{
		"no sample":    {ID: 1},
		"unknown kind": {ID: 1, Types: []layoutType{{Name: "sample", Fields: []layoutField{{Name: "x", Kind: "matrix"}}}}},
		"unknown type": {ID: 1, Types: []layoutType{{Name: "sample", Fields: []layoutField{{Name: "x", Kind: kindList, Type: "y"}}}}},
		"cycle":        {ID: 1, Types: []layoutType{{Name: "sample", Fields: []layoutField{{Name: "x", Kind: kindList, Type: "sample"}}}}},
		"twice":        {ID: 1, Types: []layoutType{{Name: "sample"}, {Name: "sample"}}},
	} {
		if _, err := bind(bad); err == nil {
			t.Errorf("layout %s: accepted", name)
		}
	}
}

// asJSON is a sample for people to compare.
func asJSON(s *probes.Sample) string {
	b, _ := json.Marshal(s)
	for _, sc := range s.Scrapes {
		b = fmt.Appendf(b, " %+v", *sc)
	}
	return string(b)
}
