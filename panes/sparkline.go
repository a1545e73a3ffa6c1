package panes

import (
	"fmt"
	"math"
	"strings"
	"time"

	"llmtop/probes"
)

var (
	levels  = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}
	strides = [...]uint64{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 120, 300, 600}
)

const (
	noReading = ' '
	gapSign   = '╎'
)

// stride is how many ticks share a cell so that the whole history fits w cells.
// It grows in few steps and cells begin at fixed sequence numbers, so a sparkline
// moves to the left, it does not shimmer.
func (v *view) stride(w int) uint64 {
	for _, s := range strides {
		if uint64(len(v.Ticks)) <= s*uint64(max(w-1, 1)) {
			return s
		}
	}
	return strides[len(strides)-1]
}

// sparkline draws a signal's history in w cells, newest at the right, from 0 to
// its largest value, or to twice its baseline when that is more: normal then lies
// in the middle and not at the top. A cell is the worst (largest) of its ticks; no
// reading is a blank and a hole in time is ╎.
func (v *view) sparkline(name string, w int) string {
	if w <= 0 {
		return ""
	}
	cells, holes, top := v.cells(w, func(i int) opt { return v.Ticks[i].Signals.Get(name) })
	return drawSpark(cells, holes, math.Max(top, 2*v.baseline(name).Or(0)))
}

// opt is a reading that may be missing.
type opt = probes.Opt[float64]

// cells gathers readings by tick into w cells: the largest of each cell, NaN for
// none; which cells hold a hole in time; the largest of all.
func (v *view) cells(w int, reading func(i int) opt) (cells []float64, holes []bool, top float64) {
	cells, holes = make([]float64, w), make([]bool, w)
	for i := range cells {
		cells[i] = math.NaN()
	}
	stride := v.stride(w)
	last := v.tick.Point.Seq / stride
	for i := len(v.Ticks) - 1; i >= 0; i-- {
		back := last - v.Ticks[i].Point.Seq/stride
		if back >= uint64(w) {
			break
		}
		cell := w - 1 - int(back)
		holes[cell] = holes[cell] || v.gap(i) > 0
		if value, ok := reading(i).Get(); ok && !(value <= cells[cell]) {
			cells[cell] = value
			top = math.Max(top, value)
		}
	}
	return cells, holes, top
}

func drawSpark(cells []float64, holes []bool, top float64) string {
	var b strings.Builder
	for i, value := range cells {
		switch {
		case holes[i]:
			b.WriteRune(gapSign)
		case math.IsNaN(value):
			b.WriteRune(noReading)
		case top <= 0 || value <= 0:
			b.WriteRune(levels[0])
		default:
			b.WriteRune(levels[min(len(levels)-1, int(value/top*float64(len(levels))))])
		}
	}
	return b.String()
}

// history says how long a sparkline of w cells looks back.
func (v *view) history(w int) string {
	stride := v.stride(w)
	interval := v.tick.Point.Interval
	if interval <= 0 {
		interval = time.Second
	}
	return "last " + ago(time.Duration(uint64(w)*stride)*interval)
}

// bar draws a ratio in w cells; missing is an empty frame of dots.
func bar(ratio probes.Opt[float64], w int) string {
	value, ok := ratio.Get()
	if !ok {
		return strings.Repeat("·", max(w, 0))
	}
	full := int(math.Round(math.Max(0, math.Min(1, value)) * float64(w)))
	return strings.Repeat("█", full) + strings.Repeat("░", max(w-full, 0))
}

// part is a piece of a stacked bar.
type part struct {
	name  string
	sign  rune
	tone  tone
	share float64
}

// stacked draws parts in w cells, each by its own sign, so that it reads without
// colours. Edges are rounded, not widths, so the parts fill w when the shares add
// up to 1.
func stacked(parts []part, w int) row {
	var r row
	edge, sum := 0, 0.0
	for _, p := range parts {
		sum += math.Max(0, p.share)
		end := int(math.Round(math.Min(1, sum) * float64(w)))
		if end > edge {
			r = r.add(p.tone, strings.Repeat(string(p.sign), end-edge))
			edge = end
		}
	}
	if edge < w {
		r = r.add(faint, strings.Repeat("·", w-edge))
	}
	return r
}

// legend names the parts in room cells, in the order given; a part that does not
// fit is left out rather than cut.
func legend(parts []part, room int) row {
	var r row
	for _, p := range parts {
		text := fmt.Sprintf(" %s %5s", p.name, percent(p.share))
		need := 2 + 1 + width(text)
		if p.share < 0.005 || need > room {
			continue
		}
		r = r.add(plain, "  ").add(p.tone, string(p.sign)).add(plain, text)
		room -= need
	}
	return r
}
