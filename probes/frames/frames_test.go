package frames

import (
	"bytes"
	"compress/gzip"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"llmtop/probes"
)

var at = time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)

// stack is a sampled stack.
type stack struct {
	samples int64
	frames  string // leaf first, separated by blanks; "a|b" is a inlined into b; "stage=x" is a label
}

// pprof makes the profile that a Go program would send, 10 ms a sample.
func pprof(t testing.TB, stacks ...stack) *probes.Profile {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Mapping: []*profile.Mapping{{ID: 1, HasFunctions: true, File: "/bin/engine"}},
	}
	functions := map[string]*profile.Function{}
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{s.samples, s.samples * 1e7}}
		for _, names := range strings.Fields(s.frames) {
			if stage, ok := strings.CutPrefix(names, "stage="); ok {
				sample.Label = map[string][]string{"stage": {stage}, "endpoint": {"/v1"}}
				continue
			}
			l := &profile.Location{ID: uint64(len(p.Location) + 1), Mapping: p.Mapping[0], Address: uint64(len(p.Location) + 1)}
			for _, name := range strings.Split(names, "|") {
				if functions[name] == nil {
					functions[name] = &profile.Function{ID: uint64(len(functions) + 1), Name: name}
					p.Function = append(p.Function, functions[name])
				}
				l.Line = append(l.Line, profile.Line{Function: functions[name]})
			}
			p.Location = append(p.Location, l)
			sample.Location = append(sample.Location, l)
		}
		p.Sample = append(p.Sample, sample)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return &probes.Profile{At: at, Seconds: 5, Raw: b.Bytes()}
}

func TestFacts(t *testing.T) {
	facts, err := Facts(pprof(t,
		stack{40, "llmtop/engine/model.dotQ8 llmtop/engine/model.(*Model).Forward llmtop/engine.(*cpuRunner).Run runtime.goexit"},
		stack{10, "runtime.memmove llmtop/engine/model.(*KVPool).put|llmtop/engine/model.(*Model).Forward runtime.goexit"},
		stack{20, "runtime.memmove llmtop/engine/tokenizer.(*merger).run llmtop/engine/tokenizer.(*Tokenizer).Encode net/http.HandlerFunc.ServeHTTP"},
		stack{5, "llmtop/engine/tokenizer.(*Tokenizer).appendBytes llmtop/engine/tokenizer.(*Decoder).Push"},
		stack{10, "runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker"},
		stack{5, "runtime.futex runtime.notesleep runtime.findRunnable runtime.schedule"},
		stack{10, "main.spin main.main runtime.main"},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{Model: 0.5, Tokenize: 0.2, Detokenize: 0.05, GC: 0.1, Runtime: 0.05, Other: 0.1}
	if len(facts.Share) != len(want) {
		t.Errorf("shares %v", facts.Share)
	}
	for what, share := range want {
		if math.Abs(facts.Share[what]-share) > 1e-9 {
			t.Errorf("%s: got %v, want %v", what, facts.Share[what], share)
		}
	}
	if facts.Samples != 100 || facts.Seconds != 5 || !facts.At.Equal(at) {
		t.Errorf("got %+v", facts)
	}
	top := facts.Top
	if len(top) != 6 || top[0] != (probes.FrameShare{Function: "llmtop/engine/model.dotQ8", Flat: 0.4, Stage: Model}) {
		t.Errorf("top %+v", top)
	}
	if top[1] != (probes.FrameShare{Function: "runtime.memmove", Flat: 0.3, Stage: Tokenize}) {
		t.Errorf("a function that serves many: %+v", top[1])
	}
}

func TestTopIsBounded(t *testing.T) {
	var stacks []stack
	for i := range 30 {
		stacks = append(stacks, stack{1, "main.f" + strings.Repeat("x", 300+i)})
	}
	facts, err := Facts(pprof(t, stacks...))
	if err != nil || len(facts.Top) != maxTop {
		t.Fatalf("%d top functions, %v", len(facts.Top), err)
	}
	if name := facts.Top[0].Function; len(name) > maxName+len("…") {
		t.Errorf("a name of %d bytes", len(name))
	}
}

func TestFactsOfAnIdleEngine(t *testing.T) {
	facts, err := Facts(pprof(t))
	if err != nil || len(facts.Share) != 0 || facts.Samples != 0 || facts.Top != nil {
		t.Errorf("got %+v, %v", facts, err)
	}
}

func TestFactsOfOtherProfilers(t *testing.T) {
	// One value, no samples column, a stripped library without functions.
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "wall", Unit: "nanoseconds"}}}
	gomp := &profile.Mapping{ID: 1, File: "/usr/lib/libgomp.so.1"}
	leaf := &profile.Location{ID: 1, Mapping: gomp}
	root := &profile.Location{ID: 2, Mapping: gomp, Line: []profile.Line{{Function: &profile.Function{ID: 1, Name: "ggml_graph_compute_thread"}}}}
	p.Mapping, p.Location, p.Function = []*profile.Mapping{gomp}, []*profile.Location{leaf, root}, []*profile.Function{root.Line[0].Function}
	p.Sample = []*profile.Sample{{Location: []*profile.Location{leaf, root}, Value: []int64{30}}, {Location: []*profile.Location{root}, Value: []int64{10}}}
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	facts, err := Facts(&probes.Profile{Raw: b.Bytes()})
	if err != nil || facts.Share[Wait] != 0.75 || facts.Share[Model] != 0.25 || facts.Samples != 2 {
		t.Errorf("got %+v, %v", facts, err)
	}
}

func TestFactsErrors(t *testing.T) {
	good := pprof(t, stack{1, "main.main"}).Raw
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range maxInflated>>20 + 1 { // 8 KB zipped
		z.Write(zeros)
	}
	z.Close()
	cases := []struct {
		name string
		p    *probes.Profile
		want string
	}{
		{"none", nil, "there is none"},
		{"empty", &probes.Profile{}, ""},
		{"text", &probes.Profile{Raw: []byte("hello")}, ""},
		{"cut off", &probes.Profile{Raw: good[:len(good)-9]}, "unexpected EOF"},
		{"large and not zipped", &probes.Profile{Raw: make([]byte, maxInflated+1)}, "it is larger than 8388608 bytes"},
		{"a bomb", &probes.Profile{Raw: bomb.Bytes()}, "it is larger than 8388608 bytes unzipped"},
	}
	for _, c := range cases {
		facts, err := Facts(c.p)
		if facts != nil || err == nil || !strings.HasPrefix(err.Error(), "reading CPU profile: "+c.want) {
			t.Errorf("%s: got %+v, %v", c.name, facts, err)
		}
	}
}

func FuzzFacts(f *testing.F) {
	raw, err := inflate(pprof(f, stack{3, "a|b c"}, stack{1, "runtime.x"}).Raw, maxInflated)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		facts, err := Facts(&probes.Profile{Raw: raw})
		if err != nil || len(facts.Share) == 0 {
			return
		}
		sum := 0.0
		for _, share := range facts.Share {
			sum += share
		}
		if math.Abs(sum-1) > 1e-6 || len(facts.Top) > maxTop {
			t.Fatalf("shares sum to %v: %+v", sum, facts)
		}
	})
}

func BenchmarkFacts(b *testing.B) {
	var stacks []stack
	for i := range 1000 {
		stacks = append(stacks, stack{1, "runtime.memmove main.f" + strings.Repeat("x", i%90) + " main.g main.h llmtop/engine/model.(*Model).Forward runtime.goexit"})
	}
	p := pprof(b, stacks...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Facts(p); err != nil {
			b.Fatal(err)
		}
	}
}
