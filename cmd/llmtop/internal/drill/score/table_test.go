package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"llmtop/cmd/llmtop/internal/drill"
)

// made are eight runs of 200 s. By hand: of the five that are about naming (a, a, b, c, d) a, b and the
// note d are right; c is among the three.
func made() []Run {
	a2 := fault("a")
	a2.Seed, a2.Severity = 2, drill.Severe
	discarded, weak := fault("b"), fault("b")
	discarded.Discard, weak.Discard = "e2e.p50 grew ×1.1, ×1.2 in 2 tries: it should be ×3", "e2e.p50 grew ×1.3: it should be ×3"
	day := truth("control", drill.Healthy)
	day.To = at(12 * 3600)
	noted := run(truth("d", drill.Note), drill.Verdict{At: at(0), State: Healthy, Says: []string{"d"}})
	noted.Judged.Shown, noted.Judged.Untrue = 40, []string{"queue.share: 91 % shown, 19 % computed"}
	return []Run{
		namedAs(fault("a"), 4, "a"),
		namedAs(a2, 20, Unknown),
		namedAs(fault("b"), 20, "b", "a"),
		namedAs(fault("c"), 10, "a", "b", "c"),
		noted,
		namedAs(truth("outside_x", drill.Outside), 10, Unknown),
		run(day, says(0, Healthy), says(3600, "a"), says(3601, Healthy), says(7200, Unknown), says(7300, Healthy)),
		run(discarded), run(weak),
	}
}

func TestMetricsByHand(t *testing.T) {
	table := Of(made(), []Pair{{"a", "b"}, {"a", "c"}, {"c", "none"}})
	j := table.Judges[0]
	for name, want := range map[string]float64{
		"top1": 3. / 5, "top3": 4. / 5,
		// a: TP 1, said 1+1 (c) +0, is 2 → 2/4; b: 1; c: 0; d: 1; unknown: TP 1, said 2, is 1 → 2/3;
		// healthy: TP 0. The control's answer is unknown (100 s) and so unknown is said 3 times: 2/4.
		"macro_f1":      (2./4 + 1 + 0 + 1 + 2./4 + 0) / 6,
		"pair_accuracy": 1. / 2,
		// delays 0 (the note stood there before), 4 and 20: rank 1 of 0…2, and 1.9
		"delay_p50_seconds": 4, "delay_p95_seconds": 4 + 0.9*16,
		"named_within_10s": 2. / 5, "named_within_30s": 3. / 5,
		// two in 12 h of control and 6 × 100 s before onsets
		"false_alarms_per_24h": 2 / (12 + 600./3600) * 24,
		"abstention_precision": 1. / 2, "abstention_recall": 1,
	} {
		var got *float64
		for _, m := range measures {
			if m.Name == name {
				got = *m.In(&j.Metrics)
			}
		}
		wantValue(t, name, got, want)
	}
	wantValue(t, "evidence truth", table.EvidenceTruth, 1-1./40)
	if r := table.Runs; r.Planned != 9 || r.Valid != 7 || r.Discarded != 2 || len(r.Reasons) != 1 || r.Reasons[0] != (Count{"e2e.p50 grew …", 2}) {
		t.Errorf("runs: %+v", r)
	}
	if table.Drills != 6 || table.Causes != 4 || j.NamingRuns != 5 || j.PairRuns != 2 || j.Alarms != 2 || fmt.Sprint(table.Unpaired) != "[c / none]" {
		t.Errorf("%d drills, %d causes, %d to be named, %d pairs, %d alarms, unpaired %v", table.Drills, table.Causes, j.NamingRuns, j.PairRuns, j.Alarms, table.Unpaired)
	}
	if want := []Confusion{{"a", Unknown, 1}, {"c", "a", 1}, {Healthy, Unknown, 1}}; fmt.Sprint(j.Confusions) != fmt.Sprint(want) {
		t.Errorf("confusions %v, want %v", j.Confusions, want)
	}
	wantValue(t, "top1 of severe", j.BySeverity[1].Top1, 0)
	if d := j.ByDrill[0]; d.Drill != "a" || d.Runs != 2 || *d.Top1 != 0.5 || *d.DelayP50 != 4 || d.Instead != Unknown {
		t.Errorf("%+v", d)
	}
	for _, other := range table.Judges[1:] { // said nothing in any run
		wantValue(t, other.Judge+" top1", other.Top1, 0)
		wantValue(t, other.Judge+" delay", other.DelayP50, nothing)
	}
}

// TestMissingSources: recordings with sources left out are in the curve by what is missing alone.
func TestMissingSources(t *testing.T) {
	full := fault("power-cap")
	full.SeenBy, full.Stage = []string{"gpu"}, "decode"
	noGPU, noProfile := full, full
	noGPU.Missing, noProfile.Missing = []string{"gpu"}, []string{"profile"}
	stage := drill.Verdict{At: at(110), State: Unknown, Stage: "decode", Lacks: []string{"gpu"}}
	runs := []Run{namedAs(full, 5, "power-cap"), run(noGPU, stage), run(noProfile, stage)}
	runs[1].LeftOut, runs[2].LeftOut = noGPU.Missing, noProfile.Missing
	table := Of(runs, nil)
	j := table.Judges[0]
	wantValue(t, "top1", j.Top1, 1)
	if table.Runs.Planned != 1 {
		t.Errorf("%d planned", table.Runs.Planned)
	}
	var got []string
	for _, p := range j.ByMissing {
		got = append(got, fmt.Sprintf("%s %d %g", p.Name, p.Runs, *p.Top1))
	}
	if want := "[nothing 1 1 gpu 1 1 gpu, cause hidden 1 1 profile 1 0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestShuffledLabelsScoreAtChance: a judge that is always right, held against labels dealt anew, is
// right as often as chance has it: in 40 deals of 500 runs of 20 causes the mean has a
// standard error of 0.0015.
func TestShuffledLabelsScoreAtChance(t *testing.T) {
	const ids, each, deals = 20, 25, 40
	var runs []Run
	var labels []string
	for i := range ids * each {
		id := fmt.Sprintf("cause-%02d", i%ids)
		labels = append(labels, id)
		runs = append(runs, namedAs(fault(id), 5, id))
	}
	wantValue(t, "top1 with true labels", metricsOf(outcomesOf(runs, drill.Product), nil).Top1, 1)
	draw := rand.New(rand.NewPCG(7, 7))
	top1, f1 := 0.0, 0.0
	for range deals {
		draw.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		for i := range runs {
			runs[i].Truth.Drill, runs[i].Truth.Expects = labels[i], []string{labels[i]}
		}
		m := metricsOf(outcomesOf(runs, drill.Product), nil)
		top1, f1 = top1+*m.Top1/deals, f1+*m.MacroF1/deals
	}
	if math.Abs(top1-1./ids) > 0.006 || math.Abs(f1-1./ids) > 0.006 {
		t.Errorf("top1 %.4f, macro F1 %.4f; chance is %.4f", top1, f1, 1./ids)
	}
}

// TestIntervals: of 400 runs right with a chance of 0.8 the interval is that of a binomial, which is
// ±1.96·√(0.8·0.2/400) = ±0.039.
func TestIntervals(t *testing.T) {
	var runs []Run
	for i := range 400 {
		runs = append(runs, namedAs(fault("a"), 5, map[bool]string{true: "b", false: "a"}[i%5 == 0]))
	}
	i := product(runs).Intervals["top1"]
	if low, high := 0.8-i[0], i[1]-0.8; low < 0.03 || low > 0.05 || high < 0.03 || high > 0.05 {
		t.Errorf("interval %v", i)
	}
}

// TestSameRunsSameTable: byte for byte.
func TestSameRunsSameTable(t *testing.T) {
	print := func() string {
		table := Of(made(), []Pair{{"a", "b"}})
		b, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := table.Text(&text); err != nil {
			t.Fatal(err)
		}
		return string(b) + text.String()
	}
	first := print()
	for range 5 {
		if again := print(); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
	for _, key := range []string{"top1", "top3", "macro_f1", "pair_accuracy", "delay_p50_seconds", "delay_p95_seconds", "false_alarms_per_24h",
		"abstention_precision", "abstention_recall", "evidence_truth", "by_severity", "by_personality", "by_missing", "confusions", "intervals"} {
		if !strings.Contains(first, `"`+key+`":`) {
			t.Errorf("no key %s", key)
		}
	}
}

// TestTextFits: no line is longer than 80 columns, whatever names hold.
func TestTextFits(t *testing.T) {
	runs := made()
	long := fault(strings.Repeat("long-", 30))
	long.World, long.Personality = strings.Repeat("w", 90), "a\nb"
	runs = append(runs, namedAs(long, 7, strings.Repeat("answer", 30)))
	table := Of(runs, []Pair{{long.Drill, long.Drill}, {"x", "y"}})
	table.Suite, table.Engine, table.Version = "test", "twin", "0123456789ab"
	var text strings.Builder
	if err := table.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"7 drills of 5 causes", "8 count, 2 discarded", "2  e2e.p50 grew …"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestOfNothing: a table of no runs has no numbers and does not fail.
func TestOfNothing(t *testing.T) {
	table := Of(nil, nil)
	wantValue(t, "top1", table.Judges[0].Top1, nothing)
	wantValue(t, "evidence truth", table.EvidenceTruth, nothing)
	if err := table.Text(&strings.Builder{}); err != nil {
		t.Error(err)
	}
}

func TestLeast(t *testing.T) {
	all, err := ParseLeast("top1=0.6, false_alarms_per_24h=1,evidence_truth=0.9,pair_accuracy=0.5")
	if err != nil {
		t.Fatal(err)
	}
	missed := Of(made(), nil).Missed(all)
	if len(missed) != 2 || !strings.HasPrefix(missed[0], "false_alarms_per_24h is 3.945, wanted at most 1") || !strings.HasPrefix(missed[1], "pair_accuracy cannot be told") {
		t.Errorf("missed: %q", missed)
	}
	for _, bad := range []string{"", "top1", "top1=x", "top1=NaN", "top2=0.5"} {
		if _, err := ParseLeast(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
