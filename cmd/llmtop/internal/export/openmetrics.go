package export

import (
	"bufio"
	"context"
	"io"
	"math"
	"strconv"
	"strings"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// maxValues bounds the memory of an OpenMetrics export, in bytes: the format wants each
// series whole, one after the other, so as many as fit are gathered in one pass over the
// recording. Times take 8 bytes a sample beside it; one histogram is never split.
const maxValues = 64 << 20

// OpenMetrics writes the signals under their export names and, if wanted, the engines' own
// series, all with timestamps. promtool tsdb create-blocks-from openmetrics reads it.
func OpenMetrics(ctx context.Context, w io.Writer, r *record.Reader, o Options) error {
	return openMetrics(ctx, w, r, o, maxValues)
}

func openMetrics(ctx context.Context, w io.Writer, r *record.Reader, o Options, budget int) error {
	x := exposition{options: o, reader: r, out: bufio.NewWriterSize(w, 64<<10), budget: budget}
	taken, err := x.signals(ctx)
	if err == nil && o.Raw {
		err = x.raw(ctx, taken)
	}
	if err != nil {
		return err
	}
	x.out.WriteString("# EOF\n")
	return x.out.Flush()
}

// exposition is one OpenMetrics text under way.
type exposition struct {
	options Options
	reader  *record.Reader
	out     *bufio.Writer
	budget  int // bytes
}

// family is a metric family; its metrics follow each other.
type family struct {
	name, kind, unit, help string
	metrics                []*metric
}

// metric is one label set of a family, of one endpoint.
type metric struct {
	title string
	clock string // whose times its points have
	lines []line // of one point, in order
}

// line is one series: its name and labels, and where its values come from.
type line struct {
	head string
	key  string
	le   float64 // for the order of buckets
}

// column holds the values of a series, one for each time of its clock; absent where there is none.
type column []float64

// absentBits is a NaN that no engine exposes.
const absentBits = 0x7ff8_6c6c_6d74_6f70

var absent = math.Float64frombits(absentBits)

func (c column) at(i int) (float64, bool) {
	if i >= len(c) || math.Float64bits(c[i]) == absentBits {
		return 0, false
	}
	return c[i], true
}

// table is what one pass gathers.
type table struct {
	times   map[string][]int64 // by clock, Unix ms
	columns map[string]column  // by key
}

// batches cuts the metrics of all families into passes of at most n series.
func batches(families []family, n int) (passes [][]family) {
	var pass []family
	room := n
	for _, f := range families {
		part := family{}
		for i, m := range f.metrics {
			if len(m.lines) > room && room < n {
				passes, pass, room = append(passes, appendFamily(pass, part)), nil, n
				part = family{}
			}
			if part.name == "" {
				part = family{name: f.name, kind: f.kind}
				if i == 0 {
					part.unit, part.help = f.unit, f.help
				} else {
					part.kind = "" // its head is written already
				}
			}
			part.metrics = append(part.metrics, m)
			room -= len(m.lines)
		}
		pass = appendFamily(pass, part)
	}
	if len(pass) > 0 {
		passes = append(passes, pass)
	}
	return passes
}

func appendFamily(pass []family, f family) []family {
	if len(f.metrics) == 0 {
		return pass
	}
	return append(pass, f)
}

// perPass is how many series of so many points fit in the budget.
func (x *exposition) perPass(points int) int { return max(1, x.budget/8/max(1, points)) }

// signals writes the signals and returns the names of their families.
func (x *exposition) signals(ctx context.Context) (map[string]bool, error) {
	families := signalFamilies(x.options.Signals)
	taken := map[string]bool{}
	for _, f := range families {
		taken[f.name] = true
	}
	from, to := x.options.stretch(x.reader)
	passes := batches(families, x.perPass(to-from))
	for i, pass := range passes {
		t, err := x.gatherSignals(ctx, pass, to-from, x.pass(i, len(passes)))
		if err != nil {
			return nil, err
		}
		x.write(pass, t)
	}
	return taken, nil
}

// signalFamilies groups signals by family, in the order in which the families first appear.
func signalFamilies(signals []rules.Signal) (out []family) {
	place := map[string]int{}
	for _, s := range signals {
		name, labels := s.Series()
		i, ok := place[name]
		if !ok {
			i, place[name] = len(out), len(out)
			out = append(out, family{name: name, kind: "gauge", unit: s.ExportUnit(), help: s.Formula})
		}
		if out[i].help = common(out[i].help, s.Formula); out[i].help == "" {
			out[i].help = common(out[i].metrics[0].title, s.Title)
		}
		head := name
		if labels != "" {
			head += "{" + labels + "}"
		}
		out[i].metrics = append(out[i].metrics, &metric{title: s.Title, lines: []line{{head: head, key: s.Name}}})
	}
	return out
}

// common is what two descriptions of one family have in common, in whole words: how they
// begin or how they end.
func common(a, b string) string {
	if a == b {
		return a
	}
	x, y := strings.Fields(a), strings.Fields(b)
	head, tail := 0, 0
	for head < min(len(x), len(y)) && x[head] == y[head] {
		head++
	}
	for tail < min(len(x), len(y)) && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	if head >= tail {
		return strings.Join(x[:head], " ")
	}
	return strings.TrimPrefix(strings.Join(x[len(x)-tail:], " "), "of ")
}

// pass is the options of one of several passes: its progress is a part of the whole.
func (x *exposition) pass(i, n int) Options {
	o := x.options
	o.Progress = func(done, all int) { x.options.progress(i*all+done, n*all) }
	return o
}

func (x *exposition) gatherSignals(ctx context.Context, families []family, n int, o Options) (table, error) {
	t := table{times: map[string][]int64{}, columns: map[string]column{}}
	var names []string
	for _, f := range families {
		for _, m := range f.metrics {
			names = append(names, m.lines[0].key)
			t.columns[m.lines[0].key] = make(column, 0, n)
		}
	}
	for row, err := range o.rows(ctx, x.reader, true) {
		if err != nil {
			return t, err
		}
		if row.tick == nil {
			continue
		}
		t.times[""] = append(t.times[""], row.Sample.At.UnixMilli())
		for _, name := range names {
			t.columns[name] = append(t.columns[name], row.tick.Signals.Get(name).Or(absent))
		}
	}
	return t, nil
}

// write writes the families of one pass.
func (x *exposition) write(families []family, t table) {
	orders := map[string][]int32{}
	for clock, times := range t.times {
		orders[clock] = inOrder(times)
	}
	for _, f := range families {
		x.head(f)
		for _, m := range f.metrics {
			x.points(m, t, orders[m.clock])
		}
	}
}

func (x *exposition) head(f family) {
	if f.kind == "" {
		return
	}
	x.out.WriteString("# TYPE " + f.name + " " + f.kind + "\n")
	if f.unit != "" {
		x.out.WriteString("# UNIT " + f.name + " " + f.unit + "\n")
	}
	if f.help != "" {
		x.out.WriteString("# HELP " + f.name + " " + escapeText(f.help) + "\n")
	}
}

// points writes all points of a metric, the oldest first.
func (x *exposition) points(m *metric, t table, order []int32) {
	columns := make([]column, len(m.lines))
	for i, l := range m.lines {
		columns[i] = t.columns[l.key]
	}
	var b []byte
	for _, i := range order {
		b = b[:0]
		for j, l := range m.lines {
			v, ok := columns[j].at(int(i))
			if !ok {
				continue
			}
			b = append(append(b, l.head...), ' ')
			b = append(appendNumber(b, v), ' ')
			b = append(appendSeconds(b, t.times[m.clock][i]), '\n')
		}
		x.out.Write(b)
	}
}

// appendNumber spells a value as the format wants it.
func appendNumber(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 1):
		return append(b, "+Inf"...)
	case math.IsInf(v, -1):
		return append(b, "-Inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// appendSeconds spells Unix milliseconds as seconds.
func appendSeconds(b []byte, ms int64) []byte {
	if ms < 0 {
		b, ms = append(b, '-'), -ms
	}
	b = append(strconv.AppendInt(b, ms/1000, 10), '.')
	return append(b, byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10))
}

var textEscapes = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)

func escapeText(s string) string { return textEscapes.Replace(s) }

// renewedPages are the pages of a sample that have series and were read since the sample before.
func renewedPages(s, last *probes.Sample) (out []*probes.Scrape) {
	for _, p := range s.Scrapes {
		if p != nil && p.Schema != nil && renewed(p, last) {
			out = append(out, p)
		}
	}
	return out
}
