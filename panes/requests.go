package panes

import (
	"slices"
	"sort"
	"time"

	"llmtop/probes"
)

// requestRows are the requests longest in flight: where each is, since when, how long it is.
func requestRows(v *view, w int) []row {
	var running []*probes.Request
	for _, section := range v.tick.Point.Requests {
		running = append(running, section.Running...)
	}
	if len(running) == 0 {
		return nil
	}
	sort.SliceStable(running, func(i, j int) bool { return running[i].Arrived.Before(running[j].Arrived) })
	classes := slices.ContainsFunc(running, func(r *probes.Request) bool { return r.Class != "" && r.Class != "normal" })
	head := row{}.add(plain, " ").left(faint, 14, "request").left(faint, 12, "in").right(faint, 9, "for").
		right(faint, 9, "prompt").right(faint, 9, "cached").right(faint, 9, "answer")
	if classes {
		head = head.add(faint, "  class")
	}
	rows := []row{head}
	for _, r := range running[:min(len(running), 12)] {
		line := requestRow(v.at, r)
		if classes {
			line = line.add(plain, "  "+clean(r.Class))
		}
		rows = append(rows, line)
	}
	return rows
}

func requestRow(now time.Time, r *probes.Request) row {
	tokens := func(n int) string { return count(float64(n)) }
	return row{}.add(plain, " ").left(faint, 13, clean(r.ID)).add(plain, " ").left(plain, 12, clean(r.State)).
		right(strong, 9, seconds(max(0, now.Sub(r.Arrived).Seconds()))).
		right(plain, 9, tokens(r.PromptTokens)).right(plain, 9, tokens(r.CachedTokens)).right(plain, 9, tokens(r.OutputTokens))
}
