package model

import "math"

// Activations are quantised to 18 bits a block of 32 for products with weights
// of a byte: 32 products of a byte and an activation then fit 31 bits, see dot.go.
const maxActivation = 1<<18 - 1

// group is the number of tokens whose activations lie interleaved, so that one
// unpacked weight serves all of them.
const group = 4

// block1 is 32 quantised activations of one token. Lane 4j+i pairs two of the
// block: x[8j+i]<<32 + x[8j+4+i]. The value of an activation is its integer times
// scale. offset is the start value of a dot product: weights are biased by 128, so
// 128 times the sum of the activations comes off, in the upper half where the
// result forms. first is the sum of the first half of them.
type block1 struct {
	lane   [16]int64
	offset int64
	first  int32
	scale  float32
}

// block4 is the same for a group of tokens.
type block4 struct {
	lane   [16][group]int64
	offset [group]int64
	first  [group]int32
	scale  [group]float32
}

// activations are the inputs of a matrix product: n rows (tokens) of cols numbers,
// with a quantised copy once quantise has run.
type activations struct {
	n, cols int
	x       []float32 // [token][col]
	groups  []block4  // [group][block]: tokens up to n - n%group
	singles []block1  // [token][block]: the last n%group tokens
}

// resize sets the shape. The contents are undefined after growing.
func (a *activations) resize(n, cols int) {
	a.n, a.cols = n, cols
	a.x = grow(a.x, n*cols)
}

// row is the numbers of one token.
func (a *activations) row(t int) []float32 { return a.x[t*a.cols : (t+1)*a.cols] }

// grouped is the number of tokens in whole groups.
func (a *activations) grouped() int { return a.n - a.n%group }

// grow returns a slice of length n, reusing s where it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// quantiseGrain is the number of values worth waking a worker for.
const quantiseGrain = 1 << 14

// quantise makes the quantised copy. cols is a multiple of 32.
func (a *activations) quantise(w *workers) {
	blocks := a.cols / blockLen
	a.groups = grow(a.groups, a.grouped()/group*blocks)
	a.singles = grow(a.singles, a.n%group*blocks)
	w.run(a.n, 1+quantiseGrain/a.cols, func(_, lo, hi int) {
		for t := lo; t < hi; t++ {
			a.quantiseToken(t, blocks)
		}
	})
}

func (a *activations) quantiseToken(t, blocks int) {
	x := a.row(t)
	if first := a.grouped(); t >= first {
		for b := range blocks {
			a.singles[(t-first)*blocks+b].set((*[blockLen]float32)(x[b*blockLen:]))
		}
		return
	}
	var one block1
	for b := range blocks {
		one.set((*[blockLen]float32)(x[b*blockLen:]))
		a.groups[t/group*blocks+b].setToken(t%group, &one)
	}
}

// setToken makes a block the part of one token of the group.
func (g *block4) setToken(t int, b *block1) {
	for i, v := range b.lane {
		g.lane[i][t%group] = v
	}
	g.offset[t%group], g.first[t%group], g.scale[t%group] = b.offset, b.first, b.scale
}

// set quantises 32 numbers. The scale of what is not finite is NaN, so that a fault
// shows in the products.
func (b *block1) set(x *[blockLen]float32) {
	var most float32
	finite := true
	for _, v := range x {
		if v < 0 {
			v = -v
		}
		if v > most {
			most = v
		}
		if !(v <= math.MaxFloat32) { // NaN, too
			finite = false
		}
	}
	if most == 0 || !finite {
		*b = block1{}
		if !finite {
			b.scale = float32(math.NaN())
		}
		return
	}
	inverse := maxActivation / most
	var sum int64
	for j := range 4 {
		word, lane := (*[8]float32)(x[8*j:]), (*[4]int64)(b.lane[4*j:])
		for i := range lane {
			hi, lo := round(word[i]*inverse), round(word[i+4]*inverse)
			lane[i] = hi<<32 + lo
			sum += hi + lo
		}
		if j == 1 {
			b.first = int32(sum)
		}
	}
	b.offset, b.scale = -(sum*bias8)<<32, most/maxActivation
}

// round gives the nearest integer of a number below 2^22 in size: adding 1.5 * 2^23
// leaves it in the low bits of the float.
func round(x float32) int64 {
	return int64(int32(math.Float32bits(x+3<<22)) - 0x4B400000)
}
