package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmtop/rules/roofline"
)

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
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		r.keep(fmt.Errorf("%s: %q is no number of it", name, s))
	}
	return v
}

// whole is a whole number, or what is so where the field is "-".
func (r *row) whole(name string, otherwise int) int {
	v := r.number(name)
	if math.IsNaN(v) {
		return otherwise
	}
	if v != math.Trunc(v) || v > math.MaxInt32 {
		r.keep(fmt.Errorf("%s: %v is no whole number", name, v))
	}
	return int(v)
}

// needed is a whole number from 1.
func (r *row) needed(name string) int {
	n := r.whole(name, 0)
	if n < 1 {
		r.keep(fmt.Errorf("%s: it is at least 1", name))
	}
	return n
}

// choice is one of a few words.
func (r *row) choice(name string, of ...string) string {
	s := r.text(name)
	if !slices.Contains(of, s) {
		r.keep(fmt.Errorf("%s is one of %s, not %q", name, strings.Join(of, ", "), s))
	}
	return s
}

// usualBudget is the tokens of a step of vLLM's server on large GPUs.
const usualBudget = 8192

func (r *row) point() point {
	p := point{use: r.choice("use", uses...), engine: r.text("engine"), source: r.text("source"), url: r.text("url")}
	p.median = r.choice("statistic", "mean", "median") == "median"
	p.again = r.choice("prompts", "new", "again") == "again"
	p.requests, p.budget = r.whole("requests", 0), r.whole("budget", usualBudget)
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
	d.TP, d.PP = r.needed("tp"), 1
	p.prompt, p.output = r.needed("prompt"), r.needed("output")
	if p.vary = r.number("vary"); !(p.vary < 1) {
		r.keep(fmt.Errorf("vary: it is 0 to 1"))
	}
	p.ttft, p.tpot = r.number("ttft_ms")/1e3, r.number("tpot_ms")/1e3
	p.clients = r.whole("concurrency", 0)
	if rate := r.number("rate"); !math.IsNaN(rate) {
		p.rate = rate
	}
	if (p.clients > 0) == (p.rate > 0) {
		r.keep(fmt.Errorf("there is either a concurrency or a rate"))
	}
	return p
}
