package panes

import (
	"math"
	"slices"
	"strings"
)

// charted are the signals worth a chart when there is room, the most telling first.
var charted = [...]string{"ttft.p95", "queue.depth", "tpot.p95"}

// chartBlocks fills room rows with charts of at least six rows each.
func chartBlocks(v *view, w, room int) []block {
	var blocks []block
	n := min(len(charted), room/6)
	for i := range n {
		height := min(12, room/n)
		blocks = append(blocks, block{chartRows(v, w, height, charted[i]), height, 9})
	}
	return blocks
}

// chartRows draws a signal's history as an area h rows high, heading included,
// from 0 to its largest value, with a line at its baseline.
func chartRows(v *view, w, h int, signal string) []row {
	const axis = 9
	cells, holes, top := v.cells(max(8, w-axis-2), func(i int) opt { return v.Ticks[i].Signals.Get(signal) })
	base, _ := v.baseline(signal).Get()
	top = math.Max(top, base*1.25)
	levels := h - 1
	seen := slices.ContainsFunc(cells, func(x float64) bool { return !math.IsNaN(x) })
	rows := []row{rule(w, signalLabel(signal), v.history(len(cells)))}
	for y := levels - 1; y >= 0; y-- {
		label := ""
		switch {
		case y == levels-1 && top > 0:
			label = amount(top, signalUnit(signal))
		case y == 0 && seen:
			label = "0"
		}
		r := row{}.right(faint, axis, label).add(faint, " ")
		normal := base > 0 && int(base/top*float64(levels)) == y
		rows = append(rows, append(r, chartLine(cells, holes, top, y, levels, normal)...))
	}
	return rows
}

// chartLine is one row of the area: the part of each cell between y and y+1 of levels.
func chartLine(cells []float64, holes []bool, top float64, y, height int, normal bool) row {
	var area, under strings.Builder // under marks the baseline where the area is empty
	var r row
	flush := func(b *strings.Builder, t tone) {
		if b.Len() > 0 {
			r = r.add(t, b.String())
			b.Reset()
		}
	}
	for i, value := range cells {
		fill := -1
		if !math.IsNaN(value) && top > 0 {
			fill = int(math.Round((value/top*float64(height) - float64(y)) * float64(len(levels))))
		}
		switch {
		case holes[i]:
			flush(&area, link)
			under.WriteRune(gapSign)
		case fill > 0:
			flush(&under, faint)
			area.WriteRune(levels[min(fill, len(levels))-1])
		case normal:
			flush(&area, link)
			under.WriteRune('─')
		default:
			flush(&area, link)
			under.WriteRune(' ')
		}
	}
	flush(&area, link)
	flush(&under, faint)
	return r
}
