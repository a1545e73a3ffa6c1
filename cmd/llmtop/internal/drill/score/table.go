package score

import (
	"cmp"
	"slices"
	"strings"

	"llmtop/cmd/llmtop/internal/drill"
)

// Table is the score of a suite.
type Table struct {
	Suite   string  `json:"suite"`
	Engine  string  `json:"engine"`
	Version string  `json:"version"` // of the program, and so of the book
	Drills  int     `json:"drills"`  // that have a run that counts
	Causes  int     `json:"causes"`  // ids that these expect
	Runs    Runs    `json:"runs"`
	Judges  []Judge `json:"judges"` // the product first
	// EvidenceTruth is the share of the numbers shown by the product that raw samples bear out.
	EvidenceTruth *float64 `json:"evidence_truth"`
	Shown         int      `json:"numbers_shown"`
	Untrue        int      `json:"numbers_untrue"`
	UntrueNumbers []Count  `json:"untrue"` // the most frequent first
	Unpaired      []string `json:"pairs_without_runs"`
}

// Runs is how many there were. Recordings with sources left out are not counted here: their
// runs are.
type Runs struct {
	Planned   int     `json:"planned"`
	Valid     int     `json:"valid"`
	Discarded int     `json:"discarded"`
	Reasons   []Count `json:"reasons"` // the most frequent first
}

// Count is how often something was so.
type Count struct {
	What  string `json:"what"`
	Times int    `json:"times"`
}

// Judge is what one judge achieved.
type Judge struct {
	Judge string `json:"judge"`
	Metrics
	Intervals     map[string][2]float64 `json:"intervals"` // 95 %, by name of the metric
	NamingRuns    int                   `json:"naming_runs"`
	PairRuns      int                   `json:"pair_runs"`
	Alarms        int                   `json:"false_alarms"`
	HealthyHours  float64               `json:"healthy_hours"`
	BySeverity    []Part                `json:"by_severity"`
	ByPersonality []Part                `json:"by_personality"`
	ByWorld       []Part                `json:"by_world"`
	ByMissing     []Part                `json:"by_missing"`
	ByDrill       []DrillScore          `json:"by_drill"`
	Confusions    []Confusion           `json:"confusions"`
}

// Of scores runs: all that were planned, those that do not count too.
func Of(runs []Run, pairs []Pair) *Table {
	t := &Table{}
	drills, causes := map[string]bool{}, map[string]bool{}
	var reasons, untrue []string
	for i := range runs {
		r := &runs[i]
		if r.Truth.Counts() {
			t.Shown += r.Judged.Shown
			t.Untrue += len(r.Judged.Untrue)
			untrue = append(untrue, r.Judged.Untrue...)
			drills[r.Truth.Drill] = true
			if names(&r.Truth) {
				causes[Label(&r.Truth)] = true
			}
		}
		if len(r.LeftOut) > 0 {
			continue
		}
		t.Runs.Planned++
		if r.Truth.Counts() {
			t.Runs.Valid++
			continue
		}
		t.Runs.Discarded++
		reasons = append(reasons, reasonOf(r.Truth.Discard))
	}
	t.Drills, t.Causes = len(drills), len(causes)
	t.Runs.Reasons, t.UntrueNumbers = counted(reasons), counted(untrue)
	if t.Shown > 0 {
		t.EvidenceTruth = some(1 - float64(t.Untrue)/float64(t.Shown))
	}
	for _, judge := range drill.Judges {
		j, without := judgeOf(runs, pairs, judge)
		t.Judges = append(t.Judges, j)
		t.Unpaired = without
	}
	return t
}

func judgeOf(runs []Run, pairs []Pair, judge string) (Judge, []string) {
	outcomes := outcomesOf(runs, judge)
	seen := whole(outcomes)
	right, unpaired := instances(pairs, seen)
	j := Judge{
		Judge: judge, Metrics: metricsOf(seen, right), Intervals: intervals(seen, right, judge), PairRuns: len(right),
		BySeverity: parts(seen, bySeverity, severityNames()...), ByPersonality: parts(seen, byPersonality), ByWorld: parts(seen, byWorld),
		ByMissing: missing(outcomes), ByDrill: byDrill(seen), Confusions: confusions(seen),
	}
	for _, o := range seen {
		if names(o.truth) {
			j.NamingRuns++
		}
	}
	j.Alarms, j.HealthyHours = alarmsOf(seen)
	without := make([]string, 0, len(unpaired))
	for _, p := range unpaired {
		without = append(without, p.A+" / "+p.B)
	}
	return j, without
}

func severityNames() []string {
	var out []string
	for _, s := range drill.Severities {
		out = append(out, string(s))
	}
	return out
}

// reasonOf is the kind of reason: what stands before the numbers of this run.
func reasonOf(discard string) string {
	what, _, isCut := strings.Cut(discard, ": ")
	words := strings.Fields(what)
	for i, word := range words {
		if strings.ContainsAny(word[:1], "0123456789") || strings.HasPrefix(word, "×") {
			words, isCut = words[:i], true
			break
		}
	}
	what = strings.Join(words, " ")
	if isCut {
		what += " …"
	}
	return what
}

// counted is how often each text is there, the most frequent first.
func counted(texts []string) []Count {
	times := map[string]int{}
	for _, t := range texts {
		times[t]++
	}
	out := make([]Count, 0, len(times))
	for t, n := range times {
		out = append(out, Count{t, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.What, b.What))
	})
	return out
}
