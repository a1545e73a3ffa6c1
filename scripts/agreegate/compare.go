package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"llmtop/engine/load"
	"llmtop/probes"
)

// limit is how far counts and means may lie apart, of the client's.
const limit = 0.02

// row is a number of both sides.
type row struct {
	what           string
	client, engine float64
	unit           string
	apart          string // how far apart they are, in words
	ok             bool
}

// compare makes the table. The client's latencies have its mean lag taken off.
func compare(c load.Report, before, after *probes.Engine) ([]row, error) {
	var rows []row
	for _, n := range []struct {
		what          string
		client        uint64
		before, after probes.Opt[float64]
	}{
		{"requests finished", c.Completed, before.Finished, after.Finished},
		{"tokens in", c.Tokens.In, before.PromptTokens, after.PromptTokens},
		{"tokens out", c.Tokens.Out, before.GenerationTokens, after.GenerationTokens},
	} {
		was, ok1 := n.before.Get()
		is, ok2 := n.after.Get()
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("the engine does not tell %s", n.what)
		}
		rows = append(rows, mean(n.what, "", float64(n.client), is-was))
	}
	lag := 0.0
	if c.Client.Lag != nil {
		lag = c.Client.Lag.Mean
	}
	for _, l := range []struct {
		what          string
		client        *load.Summary
		lag           float64
		before, after *probes.Histogram
	}{
		{"TTFT", c.TTFT, lag, before.TTFT, after.TTFT},
		{"TPOT", c.TPOT, 0, before.TPOT, after.TPOT},
		{"E2E", c.E2E, lag, before.E2E, after.E2E},
	} {
		if l.client == nil || l.before == nil || l.after == nil {
			return nil, fmt.Errorf("%s is not told by both sides", l.what)
		}
		h, ok := l.after.Sub(l.before)
		if !ok {
			return nil, fmt.Errorf("the engine's %s histogram began anew", l.what)
		}
		rows = append(rows, latency(l.what, *l.client, l.lag, h)...)
	}
	return interToken(rows, c, before, after)
}

// interToken adds the mean time between tokens, which the engine observes at every
// step: over answers of one length it is the mean of the requests' TPOT.
func interToken(rows []row, c load.Report, before, after *probes.Engine) ([]row, error) {
	if c.Output == nil || c.Output.Mean != c.Output.Max || before.StepTime == nil || after.StepTime == nil {
		return rows, nil
	}
	h, ok := after.StepTime.Sub(before.StepTime)
	if !ok {
		return nil, errors.New("the engine's ITL histogram began anew")
	}
	return append(rows,
		mean("ITL count", "", float64(c.Tokens.Out-c.Completed), h.Count),
		mean("ITL mean", "ms", 1000*c.TPOT.Mean, 1000*h.Mean().Or(math.NaN()))), nil
}

// latency compares the mean and three quantiles.
func latency(what string, c load.Summary, lag float64, h *probes.Histogram) []row {
	rows := []row{
		mean(what+" count", "", float64(c.Count), h.Count),
		mean(what+" mean", "ms", 1000*(c.Mean-lag), 1000*h.Mean().Or(math.NaN())),
	}
	for _, q := range []struct {
		name   string
		q      float64
		client float64
	}{{"p50", 0.50, c.P50}, {"p95", 0.95, c.P95}, {"p99", 0.99, c.P99}} {
		estimate, _, high := h.Quantile(q.q)
		apart := bucketOf(h.Bounds, high) - bucketOf(h.Bounds, q.client-lag)
		rows = append(rows, row{
			what: what + " " + q.name, unit: "ms", client: 1000 * (q.client - lag), engine: 1000 * estimate.Or(math.NaN()),
			apart: fmt.Sprintf("%+d buckets, at most 1", apart), ok: apart >= -1 && apart <= 1 && estimate.Seen(),
		})
	}
	return rows
}

// mean compares two numbers by their ratio.
func mean(what, unit string, client, engine float64) row {
	d := (engine - client) / client
	return row{what, client, engine, unit, fmt.Sprintf("%+.2f %%, at most %g %%", 100*d, 100*limit), math.Abs(d) <= limit}
}

// bucketOf is the index of the bucket that holds v.
func bucketOf(bounds []float64, v float64) int { return sort.SearchFloat64s(bounds, v) }

// report prints the table and counts the misses.
func report(out io.Writer, rows []row) (missed int) {
	fmt.Fprintf(out, "     %-20s %12s %12s    engine against client\n", "", "client", "engine")
	for _, r := range rows {
		word := "ok  "
		if !r.ok {
			word = "MISS"
			missed++
		}
		fmt.Fprintf(out, "%s %-20s %12.6g %12.6g %-2s %s\n", word, r.what, r.client, r.engine, r.unit, r.apart)
	}
	return missed
}
