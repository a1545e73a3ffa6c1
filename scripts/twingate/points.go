package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"

	"llmtop/rules/roofline"
)

// pointsTSV has published serving points. The constants of the cost model were chosen to meet
// those marked "set". Those marked "held" come from other sources and were written down before the
// model first ran; those marked "late" were added after that run, which the constants have not
// changed since. Held and late ones had been read by whoever chose the constants, and the factors of
// quantised weights and of small products have no point of their own in the set: that these meet
// the late points says less than it would of points that nobody had seen.
//
//go:embed points.tsv
var pointsTSV []byte

// point is a published measurement: so many clients at once, or so many requests per second.
type point struct {
	held           bool // not used to choose the model's constants
	late           bool // and added after its first run
	deployment     roofline.Deployment
	prompt, output int
	vary           float64 // lengths are spread evenly by this part to either side
	clients        int     // 0: arrivals at rate
	rate           float64
	ttft, tpot     float64 // seconds; NaN: not published
	engine, source string
}

// The gate: so many points that were held out are within so large a miss.
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
	sort.SliceStable(all, func(i, j int) bool { return !all[i].held && all[j].held })
	fmt.Fprintf(out, "%-5s %-38s %-24s %24s %24s  %s\n", "", "deployment", "load", "TTFT ms: publ, twin", "TPOT ms: publ, twin", "source")
	var first, late, rest tally
	for i := range all {
		p := &all[i]
		ttft, tpot, err := evaluate(p)
		if err != nil {
			return false, fmt.Errorf("%s: %w", p.name(), err)
		}
		mark := "set"
		switch {
		case p.held && p.inStep():
			mark = rest.add("tpot", off(tpot, p.tpot))
		case p.late:
			mark = late.add("late", max(off(ttft, p.ttft), off(tpot, p.tpot)))
		case p.held:
			mark = first.add("held", max(off(ttft, p.ttft), off(tpot, p.tpot)))
		}
		fmt.Fprintf(out, "%-5s %-38s %-24s %s %s  %s, %s\n", mark, p.name(), p.load(), compared(p.ttft, ttft), compared(p.tpot, tpot), p.engine, p.source)
	}
	fmt.Fprintf(out, "held out, one client or random arrivals: %d of %d within %.0f %% in TTFT and TPOT; of points added after the first run %d of %d\n",
		first.within, first.of, worst*100, late.within, late.of)
	fmt.Fprintf(out, "held out, clients in a closed loop: %d of %d within %.0f %% in TPOT; their TTFT depends on how far requests stay in step\n", rest.within, rest.of, worst*100)
	return first.within+late.within >= enough, nil
}

// tally counts points that were held out.
type tally struct{ within, of int }

// add counts a point by its largest miss and says how its line is marked.
func (t *tally) add(mark string, miss float64) string {
	t.of++
	if !(miss <= worst) {
		return "MISS"
	}
	t.within++
	return mark
}

// inStep reports whether the TTFT of a point says more of the load generator than of the engine: several
// clients that each wait for their answer and whose requests are alike, so that prompts come in bunches. How large
// these are follows from small delays that no table tells. Their TTFT is shown and not judged.
func (p *point) inStep() bool { return p.clients > 1 }

func compared(published, twin float64) string {
	if math.IsNaN(published) {
		return fmt.Sprintf("%8s %7.1f %7s", "-", twin*1e3, "")
	}
	return fmt.Sprintf("%8.2f %7.1f %+6.0f%%", published*1e3, twin*1e3, 100*(twin/published-1))
}

// off is by how much a part of the published value the twin is off; 0 where none was published.
func off(twin, published float64) float64 {
	if math.IsNaN(published) {
		return 0
	}
	return math.Abs(twin/published - 1)
}

func (p *point) name() string {
	d := &p.deployment
	return fmt.Sprintf("%s tp%d %s %s", d.GPU.Name, d.TP, d.Model.Name, d.Weights)
}

func (p *point) load() string {
	if p.clients > 0 {
		return fmt.Sprintf("%d/%d, %d clients", p.prompt, p.output, p.clients)
	}
	return fmt.Sprintf("%d/%d, %.3g/s", p.prompt, p.output, p.rate)
}

// readPoints reads the table. Columns are found by their names in the first line.
func readPoints(r io.Reader) ([]point, error) {
	lines := bufio.NewScanner(r)
	columns := map[string]int{}
	var all []point
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if n == 1 {
			for i, name := range fields {
				columns[name] = i
			}
			continue
		}
		if len(fields) != len(columns) {
			return nil, fmt.Errorf("points.tsv:%d: %d fields, there are %d columns", n, len(fields), len(columns))
		}
		row := row{columns: columns, fields: fields}
		p := row.point()
		if row.err != nil {
			return nil, fmt.Errorf("points.tsv:%d: %w", n, row.err)
		}
		all = append(all, p)
	}
	return all, lines.Err()
}

// row is a line of the table; it keeps the first error.
type row struct {
	columns map[string]int
	fields  []string
	err     error
}

func (r *row) text(name string) string {
	i, ok := r.columns[name]
	if !ok {
		r.keep(fmt.Errorf("there is no column %q", name))
		return ""
	}
	return r.fields[i]
}

func (r *row) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// number is NaN where the field is "-".
func (r *row) number(name string) float64 {
	s := r.text(name)
	if s == "-" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) {
		r.keep(fmt.Errorf("%s: %q is no number of it", name, s))
	}
	return v
}

func (r *row) point() point {
	p := point{engine: r.text("engine"), source: r.text("source"), vary: r.number("vary")}
	switch use := r.text("use"); use {
	case "set":
	case "held", "late":
		p.held, p.late = true, use == "late"
	default:
		r.keep(fmt.Errorf("use is set, held or late, not %q", use))
	}
	var err error
	d := &p.deployment
	if d.GPU, err = roofline.LookupGPU(r.text("gpu")); err != nil {
		r.keep(err)
	}
	if d.Model, err = roofline.LookupModel(r.text("model")); err != nil {
		r.keep(err)
	}
	if d.Weights, err = roofline.LookupDType(r.text("weights")); err != nil {
		r.keep(err)
	}
	if d.KV, err = roofline.LookupDType(r.text("kv")); err != nil {
		r.keep(err)
	}
	d.TP, d.PP = int(r.number("tp")), 1
	p.prompt, p.output = int(r.number("prompt")), int(r.number("output"))
	p.ttft, p.tpot = r.number("ttft_ms")/1e3, r.number("tpot_ms")/1e3
	if clients := r.number("concurrency"); !math.IsNaN(clients) {
		p.clients = int(clients)
	}
	if rate := r.number("rate"); !math.IsNaN(rate) {
		p.rate = rate
	}
	if (p.clients > 0) == (p.rate > 0) {
		r.keep(fmt.Errorf("there is either a concurrency or a rate"))
	}
	return p
}
