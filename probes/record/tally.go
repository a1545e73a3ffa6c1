package record

import (
	"math"
	"math/bits"
)

// tally is what a writer saw of a table's columns since the group began, from
// which it chooses how to write them in the next group.
type tally struct {
	passed  uint32 // rows
	rows    uint32 // of those, taken into account
	noting  bool   // the row under way is
	columns []columnTally
	chosen  []spec
	primed  bool // modes are chosen from values
}

// columnTally is what was seen of a column where it moved.
type columnTally struct {
	moved uint32             // rows in which it differed from its reference
	sum   [predictors]uint64 // of u, by predictor
	long  [predictors]uint32 // bits of u, by predictor
	apart uint32             // rows in which it moved otherwise than the series before
	trend int64              // as column.trend would be
	looks uint32             // values
	held  [modeBinary]uint16 // values looked at by their narrowest mode; modeBinary's are with modeBits
	exp   uint8              // highest binary mode among those; of times: units that all have
	other int64              // as column.trend would be, byTick and byShare
	rest  int64              // bySum
	mean  int64              // byMean
}

// allRows is up to how many rows of a group all are taken into account, then every fourth.
const allRows = 128

// row begins a row. Those of key frames tell nothing of the others.
func (t *tally) row(key bool) {
	t.passed++
	if t.noting = !key && (t.passed <= allRows || t.passed%4 == 0); t.noting {
		t.rows++
	}
}

// begin forgets the rows.
func (t *tally) begin() { t.passed, t.rows, t.noting = 0, 0, false }

// lookEvery is how many values of a column that fit its mode pass for one that is looked at.
const lookEvery = 8

func newTally(n int) *tally {
	return &tally{columns: make([]columnTally, n), chosen: make([]spec, n)}
}

// look notes which mode a value would have; fits: it has its column's.
func (c *columnTally) look(value uint64, fits bool) {
	if c.looks++; fits && c.looks%lookEvery != 1 {
		return
	}
	mode := modeOf(value)
	if mode >= modeBinary {
		c.exp = max(c.exp, mode)
		mode = modeBits
	} else if mode == modeBits {
		c.exp = modeLimit
	}
	c.held[mode]++
}

// note takes a movement of a number from its reference into account. base is m of the
// reference, sum and neighbor what those predictors start from; has: which of them apply.
func (c *columnTally) note(m, base int64) {
	c.moved++
	c.add(byBefore, zigzag(m-base))
	c.add(byRise, uint64(m-base))
	c.add(byTrend, zigzag(m-base-c.trend>>4))
	c.add(byZero, uint64(m))
	c.trend = follow(c.trend, m-base)
	c.add(byMean, zigzag(m-c.mean>>4))
	c.mean = follow(c.mean, m)
}

func (c *columnTally) add(by int, u uint64) {
	c.sum[by] += min(u, 1<<maxRice)
	c.long[by] += uint32(bits.Len64(u))
}

// mode is the narrowest that holds nearly all values looked at; ok is false when there were none.
func (c *columnTally) mode() (mode uint8, ok bool) {
	var total, held int
	for _, n := range c.held {
		total += int(n)
	}
	if total == 0 {
		return 0, false
	}
	for _, mode := range modeOrder {
		if held += int(c.held[mode]); 16*held >= 15*total {
			return mode, true
		}
	}
	if c.exp < modeBinary || c.exp >= modeLimit {
		return modeBits, true
	}
	return c.exp, true
}

// denseBits is about what a column costs in rows rows when u, of that sum, is written in each.
func denseBits(sum, rows float64) float64 {
	mean := sum / rows
	if mean < 1 {
		return rows * (1 + mean)
	}
	return rows * (math.Log2(mean) + 1.6)
}

// sparseBits is about what the movements cost when only those are written; gap is
// what it costs to say which column moved.
func sparseBits(moved, long uint32, gap float64) float64 {
	return float64(moved)*(gap+5) + 1.3*float64(long)
}

// specBits is about what it costs that a column is not written as those beside it.
const specBits = 16

// choose decides how a column of class k is written in the next group.
func (c *columnTally) choose(s spec, k class, hasSum, hasWith, hasNeighbor bool, rows uint32, gap float64) (spec, uint64) {
	if rows == 0 {
		return s, 0
	}
	by, all := uint8(byBefore), float64(rows)
	scale := all / float64(max(c.moved, 1)) // as if it had moved in each row
	least, sum := sparseBits(c.moved, c.long[byBefore], gap), uint64(0)
	if hasNeighbor {
		least += specBits
	}
	dense := false
	try := func(p uint8, n float64, ok bool) {
		cost := denseBits(n, all)
		if p != byBefore && p != byNeighbor || p == byBefore && hasNeighbor {
			cost += specBits
		}
		if ok && cost < least {
			by, dense, least, sum = p, true, cost, uint64(n)
		}
	}
	if hasNeighbor {
		if cost := sparseBits(c.apart, c.long[byNeighbor], gap); cost <= least {
			by, least = byNeighbor, cost
		}
		try(byNeighbor, float64(c.sum[byNeighbor]), true)
	}
	try(byBefore, float64(c.sum[byBefore]), true)
	number := k.isNumber()
	try(byRise, float64(c.sum[byRise]), number)
	try(byTrend, float64(c.sum[byTrend])*scale, number || k == classTime)
	try(byZero, float64(c.sum[byZero])*scale, number)
	try(byTick, float64(c.sum[byTick])*scale, k == classTime)
	try(byMean, float64(c.sum[byMean])*scale, number)
	try(byShare, float64(c.sum[byShare])*scale, hasWith)
	try(bySum, float64(c.sum[bySum])*scale, hasSum)
	s.by, s.dense = by, dense
	mean := float64(sum) / all
	return s, uint64(16 * mean)
}
