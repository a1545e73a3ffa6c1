package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"

	"llmtop/rules/roofline"
)

// pointsTSV has published serving points. The constants of the cost model were chosen to meet those marked "set". The
// others were held out of that. Whoever chose the constants had read the ones marked "held"; where the note says so they
// were added after the model had first run. The factors of quantised weights and of small products have no point of
// their own in the set: that these meet the held ones says less than it would of points that nobody had seen. Those marked
// "unseen" are such: their source was picked after all constants were final and before the twin ran on it, with a rule
// for which of its runs are taken (the note has it), and all that were picked stand here. One thing was changed after they
// had run: steps with a prompt have no graph, as the points of a 0.5B model in the set show. As many were met before.
//
//go:embed points.tsv
var pointsTSV []byte

// point is a published measurement: so many clients at once, or so many requests per second.
type point struct {
	use            string // of uses
	deployment     roofline.Deployment
	prompt, output int
	vary           float64 // lengths are spread evenly by this part to either side
	clients        int     // 0: arrivals at rate
	rate           float64
	requests       int     // that are counted; 0: the source does not say
	budget         int     // tokens of a step
	again          bool    // the same prompts had been sent before
	median         bool    // medians; otherwise means
	ttft, tpot     float64 // seconds; NaN: not published
	engine, source string
	url            string
}

// uses of points, in the order in which they are printed.
var uses = []string{"set", "held", "unseen"}

// held reports whether the model was not set to the point.
func (p *point) held() bool { return p.use != "set" }

// The gate: so many points that were held out are within so large a miss, in TTFT and in TPOT.
const (
	enough = 10
	worst  = 0.25
)

// points prints every point, those that were held out last, and the gate.
func points(out io.Writer) (bool, error) {
	all, err := readPoints(bytes.NewReader(pointsTSV))
	if err != nil {
		return false, err
	}
	slices.SortStableFunc(all, func(a, b point) int { return slices.Index(uses, a.use) - slices.Index(uses, b.use) })
	fmt.Fprintf(out, "%-6s %-4s %-36s %-26s %25s %25s  %s\n", "", "", "deployment", "load", "TTFT ms: publ, twin", "TPOT ms: publ, twin", "source")
	tallies := map[string]*tally{}
	for _, use := range uses {
		tallies[use] = new(tally)
	}
	for i := range all {
		p := &all[i]
		ttft, tpot, err := evaluate(p)
		if err != nil {
			return false, fmt.Errorf("%s, %s: %w", p.name(), p.load(), err)
		}
		mark := tallies[p.use].add(off(ttft, p.ttft), off(tpot, p.tpot))
		fmt.Fprintf(out, "%-6s %-4s %-36s %-26s %s %s  %s, %s\n", p.use, mark, p.name(), p.load(), compared(p.ttft, ttft), compared(p.tpot, tpot), p.engine, p.source)
	}
	return verdict(out, tallies), nil
}

// verdict prints how many points are met, and reports whether that is enough of those that were held out.
func verdict(out io.Writer, tallies map[string]*tally) bool {
	for _, use := range uses {
		t := tallies[use]
		fmt.Fprintf(out, "%-6s %d of %d points within %.0f %% in both; in TPOT %d, in TTFT %d of %d\n", use, t.both, t.of, worst*100, t.tpot, t.ttft, t.judged)
	}
	within := tallies["held"].both + tallies["unseen"].both
	fmt.Fprintf(out, "%d of %d held-out points within %.0f %% in both; the gate is %d\n", within, tallies["held"].judged+tallies["unseen"].judged, worst*100, enough)
	return within >= enough
}

// tally counts points, and how many are within the worst miss.
type tally struct{ of, judged, ttft, tpot, both int }

// add counts a point by its misses and says how its line is marked: a point without TTFT cannot be met in both.
func (t *tally) add(ttft, tpot float64) string {
	t.of++
	near := tpot <= worst
	if near {
		t.tpot++
	}
	if math.IsNaN(ttft) {
		return mark(near)
	}
	t.judged++
	if ttft <= worst {
		t.ttft++
	}
	if near = near && ttft <= worst; near {
		t.both++
	}
	return mark(near)
}

func mark(near bool) string {
	if near {
		return "ok"
	}
	return "MISS"
}

func compared(published, twin float64) string {
	if math.IsNaN(published) {
		return fmt.Sprintf("%9s %7.1f %7s", "-", twin*1e3, "")
	}
	return fmt.Sprintf("%9.2f %7.1f %+6.0f%%", published*1e3, twin*1e3, 100*(twin/published-1))
}

// off is by how much a part of the published value the twin is off; NaN where none was published.
func off(twin, published float64) float64 { return math.Abs(twin/published - 1) }

func (p *point) name() string {
	d := &p.deployment
	return fmt.Sprintf("%s tp%d %s %s", d.GPU.Name, d.TP, d.Model.Name, d.Weights)
}

func (p *point) load() string {
	if p.clients > 0 {
		return fmt.Sprintf("%d/%d, %d clients", p.prompt, p.output, p.clients)
	}
	if p.again {
		return fmt.Sprintf("%d/%d, %.3g/s, sent before", p.prompt, p.output, p.rate)
	}
	return fmt.Sprintf("%d/%d, %.3g/s", p.prompt, p.output, p.rate)
}
