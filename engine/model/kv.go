package model

import "fmt"

// KVPool holds the keys and values of all sequences in blocks of a fixed number of
// positions. Which sequence owns which block is the caller's business: position p
// of a sequence lies in block table[p/blockSize], slot p%blockSize.
type KVPool struct {
	typ               KVType
	blocks, blockSize int
	heads, headDim    int
	layers            []kvLayer
}

// kvLayer is the keys and values of one layer; of the two forms of each, only that
// of the pool's type is there.
type kvLayer struct {
	k              []float32 // [block][head][element][slot]: a product with a query adds whole rows
	v              []float32 // [block][head][slot][element]
	k8, v8         []int8    // the same in whole numbers, times
	kScale, vScale []float32 // [block][head][slot]
}

// NewKVPool makes a pool of keys and values for models of this shape. It takes
// KVBytes of memory. A pool without blocks (either number below 1) holds nothing
// and every Forward refuses it.
func NewKVPool(c Config, numBlocks, blockSize int, t KVType) *KVPool {
	numBlocks, blockSize = max(numBlocks, 0), max(blockSize, 0)
	p := &KVPool{typ: t, blocks: numBlocks, blockSize: blockSize, heads: c.KVHeads, headDim: c.HeadDim}
	slots := numBlocks * blockSize * c.KVHeads
	for range c.Layers {
		var l kvLayer
		if t == KVInt8 {
			l.k8, l.v8 = make([]int8, slots*c.HeadDim), make([]int8, slots*c.HeadDim)
			l.kScale, l.vScale = make([]float32, slots), make([]float32, slots)
		} else {
			l.k, l.v = make([]float32, slots*c.HeadDim), make([]float32, slots*c.HeadDim)
		}
		p.layers = append(p.layers, l)
	}
	return p
}

// KVBytes is the memory of a pool of that many positions (blocks times block size).
func KVBytes(c Config, positions int, t KVType) int64 {
	head := int64(c.HeadDim) * 4
	if t == KVInt8 {
		head = int64(c.HeadDim) + 4 // a scale for each head of a position
	}
	return int64(positions) * int64(c.Layers) * int64(c.KVHeads) * 2 * head
}

// Blocks is the number of blocks.
func (p *KVPool) Blocks() int { return p.blocks }

// BlockSize is the number of positions in a block.
func (p *KVPool) BlockSize() int { return p.blockSize }

// fits checks that the pool was made for this shape.
func (p *KVPool) fits(c Config) error {
	if p == nil || p.blocks < 1 || p.blockSize < 1 {
		return fmt.Errorf("the KV pool has no blocks")
	}
	if len(p.layers) != c.Layers || p.heads != c.KVHeads || p.headDim != c.HeadDim {
		return fmt.Errorf("the KV pool was made for a model of another shape")
	}
	return nil
}

// slots is where the slots of one block and head lie among all of a layer.
func (p *KVPool) slots(block, head int) (from, to int) {
	from = (block*p.heads + head) * p.blockSize
	return from, from + p.blockSize
}

// store writes one position of all heads in one layer.
func (p *KVPool) store(layer, block, slot int, k, v []float32) {
	l, d := &p.layers[layer], p.headDim
	for h := range p.heads {
		from, to := p.slots(block, h)
		key, value := k[h*d:(h+1)*d], v[h*d:(h+1)*d]
		if p.typ == KVInt8 {
			l.kScale[from+slot] = quantise8(key, l.k8[from*d+slot:to*d], p.blockSize)
			l.vScale[from+slot] = quantise8(value, l.v8[(from+slot)*d:to*d], 1)
			continue
		}
		keys := l.k[from*d : to*d]
		for i, x := range key {
			keys[i*p.blockSize+slot] = x
		}
		copy(l.v[(from+slot)*d:to*d], value)
	}
}

// addScores adds the products of a query with the keys of one block to its scores.
func (p *KVPool) addScores(layer, block, head int, query, scores []float32) {
	l, d := &p.layers[layer], p.headDim
	from, to := p.slots(block, head)
	if p.typ == KVFloat32 {
		addRows(query, l.k[from*d:to*d], scores)
		return
	}
	addRows(query, l.k8[from*d:to*d], scores)
	scaleBy(scores, l.kScale[from:to])
}

// addValues adds the values of the first slots of one block, each times its
// weight, to out. The weights are used up.
func (p *KVPool) addValues(layer, block, head int, weights, out []float32) {
	l, d := &p.layers[layer], p.headDim
	from, to := p.slots(block, head)
	if p.typ == KVFloat32 {
		addRows(weights, l.v[from*d:to*d], out)
		return
	}
	scaleBy(weights, l.vScale[from:to])
	addRows(weights, l.v8[from*d:to*d], out)
}
