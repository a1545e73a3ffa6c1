package judge

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/probes/record"
	"llmtop/rules"
)

func judged(t testing.TB, path string, o Options) drill.Judged {
	t.Helper()
	j, err := Recording(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestProduct holds the verdicts against those of a diagnoser over the same samples.
func TestProduct(t *testing.T) {
	simulates(t)
	path := recorded(t, powerDrop)
	j := judged(t, path, Options{})
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	d := rules.NewDiagnoser(book, rules.Options{})
	said, ticks := j.Verdicts[drill.Product], 0
	for i := 0; ; ticks++ {
		s, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		is := d.Observe(s).Diagnosis
		if i+1 < len(said) && !said[i+1].At.After(is.Time) {
			i++
		}
		var causes []string
		for _, c := range is.Causes {
			causes = append(causes, c.ID)
		}
		if v := said[i]; v.State != string(is.State) || !slices.Equal(v.Causes, causes) || len(v.Says) != len(is.Notes)+len(is.Risks) {
			t.Fatalf("%s: said %+v, is %s %v", is.Time, v, is.State, causes)
		}
	}
	if j.Ticks != ticks || j.Shown < 100 {
		t.Errorf("%d ticks of %d, %d numbers looked at", j.Ticks, ticks, j.Shown)
	}
	if last := said[len(said)-1]; last.Causes[0] != "power-cap" || last.Stage == "" {
		t.Errorf("said at last %+v", last)
	}
	for _, who := range drill.Judges {
		for i, v := range j.Verdicts[who] {
			if i > 0 && alike(&v, &j.Verdicts[who][i-1]) {
				t.Errorf("%s says twice %+v", who, v)
			}
		}
		if len(j.Verdicts[who]) == 0 {
			t.Errorf("%s says nothing", who)
		}
	}
}

// shuffled is the book with the name of each cause given to the next one.
func shuffled(t *testing.T) *rules.Book {
	t.Helper()
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range book.Rules {
		ids = append(ids, r.ID)
	}
	wrong := map[string]string{}
	for i, id := range ids {
		wrong[id] = ids[(i+1)%len(ids)]
	}
	out := &rules.Book{}
	for _, r := range book.Rules {
		other := *r
		other.ID, other.Effects = wrong[r.ID], nil
		for _, e := range r.Effects {
			other.Effects = append(other.Effects, wrong[e])
		}
		out.Rules = append(out.Rules, &other)
	}
	return out
}

// TestWrongBook: the causes are the book's, and of nobody else.
func TestWrongBook(t *testing.T) {
	simulates(t)
	wrong := shuffled(t)
	for _, c := range []struct{ scenario, cause string }{{powerDrop, "power-cap"}, {kvShrinks, "kv-preemption-storm"}, {slowDisk, "disk-stall"}} {
		path := recorded(t, c.scenario)
		first := func(o Options) (said []string) {
			for _, v := range judged(t, path, o).Verdicts[drill.Product] {
				if len(v.Causes) > 0 {
					said = append(said, v.Causes[0])
				}
			}
			return said
		}
		if said := first(Options{}); !slices.Contains(said, c.cause) {
			t.Errorf("%s is never said: %v", c.cause, said)
		}
		if said := first(Options{Book: wrong}); len(said) == 0 || slices.Contains(said, c.cause) {
			t.Errorf("the wrong book says %v of %s", said, c.cause)
		}
	}
}

func TestTwice(t *testing.T) {
	simulates(t)
	path := recorded(t, kvShrinks)
	text := func() string {
		b, err := json.Marshal(judged(t, path, Options{FeaturesEvery: 10 * time.Second}))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := text(), text(); a != b {
		t.Errorf("the same recording is judged in two ways:\n%s\n%s", a, b)
	}
}

// TestServe asks for several things and gets a line for each.
func TestServe(t *testing.T) {
	path := recorded(t, quiet)
	begun := time.Date(2026, 1, 1, 0, 0, 50, 0, time.UTC)
	request, err := json.Marshal(Asked{Path: path, EverySeconds: 5, At: []time.Time{begun}})
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Join([]string{path, "", filepath.Join(t.TempDir(), "none.llmrec"), "{", string(request)}, "\n")
	var out strings.Builder
	if err := Serve(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines for 4 that ask:\n%s", len(lines), out.String())
	}
	var got [4]Answer
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &got[i]); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if failed := i == 1 || i == 2; failed != (got[i].Error != "") || failed != (got[i].Judged == nil) {
			t.Errorf("line %d: %s", i, line)
		}
	}
	if got[0].Ticks != 60 || len(got[0].Features) != 0 {
		t.Errorf("judged %+v", got[0].Judged)
	}
	if n := len(got[3].Features); n < 4 || n > 6 || got[3].Features[0].Values["ttft.p50"] <= 0 {
		t.Errorf("%d features in 20 s after the first 40: %+v", n, got[3].Features)
	}
	if err := Serve(strings.NewReader(strings.Repeat("x", maxLine+1)), &out); err == nil {
		t.Error("a line without end is no error")
	}
}

func TestMostAdded(t *testing.T) {
	d := &rules.Diagnosis{
		Symptoms:    []rules.Symptom{{Signal: "ttft.p95", From: 1, To: 2}, {Signal: "tpot.p50", From: 1, To: 3}},
		Attribution: []rules.Attribution{{Of: "ttft", Stage: "queue", DeltaSeconds: 3}, {Of: "tpot", Stage: "decode", DeltaSeconds: 0.1}, {Of: "tpot", Stage: "send", DeltaSeconds: -1}},
	}
	if got := mostAdded(d); got != "decode" {
		t.Errorf("most was added to %q", got)
	}
	d.Symptoms = []rules.Symptom{{Signal: "step.p99", From: 1, To: 2}}
	if got := mostAdded(d); got != "queue" {
		t.Errorf("where the worst is not split, most was added to %q", got)
	}
	if got := mostAdded(&rules.Diagnosis{}); got != "" {
		t.Errorf("nothing was added to %q", got)
	}
}

func TestLacks(t *testing.T) {
	for unseen, want := range map[string]string{
		"gpu.sm_active < 75%: SM active not seen":                                        "gpu",
		"thermal throttling not checked: held down by heat lost":                         "gpu",
		"noisy neighbour not checked: CPU of others not seen":                            "host",
		"up(stage.send.mean, 2): time in send not exposed":                               "stages",
		`added("ttft", "tokenize") >= 50%: no split of the added ttft into these stages`: "stages",
		"profile.tokenize_share >= 30%: tokenize in CPU profile not seen":                "profile",
		"tokenizer not checked: tokenize in CPU profile stale":                           "profile",
		"up(arrivals.rate): no baseline or too little history":                           "",
		"kv.peak >= 95%: KV cache peak not exposed":                                      "",
	} {
		if got := lack(unseen); got != want {
			t.Errorf("%q lacks %q, want %q", unseen, got, want)
		}
	}
}

// TestLacksOfARecording: what is left out of a recording is said to be missing by the causes
// that ask for it. Of the host single readings may be missing too (a cgroup without a quota).
func TestLacksOfARecording(t *testing.T) {
	simulates(t)
	j := judged(t, recorded(t, host+"engine llmtop\nwithout profile\nat 70s tokenizer ×2000\n"), Options{})
	lacks := map[string]bool{}
	for _, v := range j.Verdicts[drill.Product] {
		for _, l := range v.Lacks {
			lacks[l] = true
		}
	}
	if !lacks["profile"] || lacks["gpu"] || lacks["stages"] {
		t.Errorf("the profile was left out, and %v is said to be missing", lacks)
	}
}

// BenchmarkRecording judges a recording of 190 samples.
func BenchmarkRecording(b *testing.B) {
	long := strings.Replace(powerDrop, "130s", "190s", 1)
	path := recorded(b, long)
	for b.Loop() {
		judged(b, path, Options{})
	}
}
