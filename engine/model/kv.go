package model

import "fmt"

// KVPool holds the keys and values of all sequences in blocks of a fixed number of
// positions. Which sequence owns which block is the caller's business: position p
// of a sequence lies in block table[p/blockSize], slot p%blockSize.
type KVPool struct {
	blocks, blockSize int
	heads, headDim    int
	k                 [][]float32 // [layer][block][head][element][slot]: a product with a query adds whole rows
	v                 [][]float32 // [layer][block][head][slot][element]
}

// NewKVPool makes a pool of float32 keys and values for models of this shape. It
// takes KVBytes of memory. A pool without blocks (either number below 1) holds
// nothing and every Forward refuses it.
func NewKVPool(c Config, numBlocks, blockSize int) *KVPool {
	numBlocks, blockSize = max(numBlocks, 0), max(blockSize, 0)
	p := &KVPool{blocks: numBlocks, blockSize: blockSize, heads: c.KVHeads, headDim: c.HeadDim}
	for range c.Layers {
		p.k = append(p.k, make([]float32, numBlocks*blockSize*c.KVHeads*c.HeadDim))
		p.v = append(p.v, make([]float32, numBlocks*blockSize*c.KVHeads*c.HeadDim))
	}
	return p
}

// KVBytes is the memory of a pool of that many positions (blocks times block size).
func KVBytes(c Config, positions int) int64 {
	return int64(positions) * int64(c.Layers) * int64(c.KVHeads) * int64(c.HeadDim) * 2 * 4
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
	if len(p.k) != c.Layers || p.heads != c.KVHeads || p.headDim != c.HeadDim {
		return fmt.Errorf("the KV pool was made for a model of another shape")
	}
	return nil
}

// start is where one block and head lies in a layer's slice.
func (p *KVPool) start(block, head int) int {
	return (block*p.heads + head) * p.blockSize * p.headDim
}

// keys is one block and head: [element][slot].
func (p *KVPool) keys(layer, block, head int) []float32 {
	at := p.start(block, head)
	return p.k[layer][at : at+p.blockSize*p.headDim]
}

// values is one block and head: [slot][element].
func (p *KVPool) values(layer, block, head int) []float32 {
	at := p.start(block, head)
	return p.v[layer][at : at+p.blockSize*p.headDim]
}

// store writes one position of all heads in one layer.
func (p *KVPool) store(layer, block, slot int, k, v []float32) {
	for h := range p.heads {
		keys, own := p.keys(layer, block, h), k[h*p.headDim:(h+1)*p.headDim]
		for i, x := range own {
			keys[i*p.blockSize+slot] = x
		}
		copy(p.values(layer, block, h)[slot*p.headDim:], v[h*p.headDim:(h+1)*p.headDim])
	}
}
