package engine

import (
	"fmt"

	"llmtop/engine/model"
)

// draftProposer guesses with a small model of the same vocabulary, greedily. It has
// a KV pool of its own, over the same blocks: position p of a sequence lies in the
// same block and slot as in the main model's pool, so the main block tables serve
// both. In each step it first computes what it lacks of the sequences (the same
// chunks of prompts, the tokens that were sampled), then guess after guess of all
// sequences together.
//
// What it has computed can be wrong or missing: a guess was rejected, a block came
// from the prefix cache, or was given to another sequence after a preemption. Which
// slots of a block it has filled is therefore counted for each block, and what is
// not certain is computed again. A mistake there would cost accepted guesses, never
// a wrong token.
type draftProposer struct {
	model  *model.Model
	pool   *model.KVPool
	rows   int   // most tokens that it catches up with in a step
	filled []int // by block: its leading slots that hold what belongs there
	seqs   map[*Sequence]*followedSequence

	tokens  []int // scratch
	chunks  []model.Chunk
	lanes   []lane
	guesses [][]int
}

// followedSequence is how far the draft model has come with a sequence.
type followedSequence struct {
	done        int // leading tokens whose keys and values are in the pool
	preemptions int // that the sequence had then; one more and its blocks are others
}

// lane is an item that gets guesses.
type lane struct {
	item, room int
	blocks     []int
	next       int // position of the next guess
	seq        *followedSequence
}

func newDraftProposer(m *model.Model, c Config, kv model.KVType) *draftProposer {
	return &draftProposer{
		model:  m,
		pool:   model.NewKVPool(m.Config(), c.NumBlocks, c.BlockSize, kv),
		rows:   c.MaxBatchedTokens + c.MaxNumSeqs, // a decode may have to catch up by one
		filled: make([]int, c.NumBlocks),
		seqs:   make(map[*Sequence]*followedSequence),
	}
}

// Propose catches up with every item and guesses where there is room.
func (d *draftProposer) Propose(items []Item) ([][]int, error) {
	d.guesses = renew(d.guesses, len(items))
	d.catchUp(items)
	for len(d.chunks) > 0 {
		logits, err := d.model.Forward(d.pool, d.chunks)
		if err != nil {
			return nil, fmt.Errorf("computing a step of the draft model: %w", err)
		}
		d.guess(logits)
	}
	return d.guesses, nil
}

// Forget drops a sequence; its blocks stay filled for whoever finds them in the prefix cache.
func (d *draftProposer) Forget(q *Sequence) { delete(d.seqs, q) }

// catchUp makes the chunks that the draft model lacks, and a lane for each item
// that can be guessed from then on.
func (d *draftProposer) catchUp(items []Item) {
	d.chunks, d.lanes, d.tokens = d.chunks[:0], d.lanes[:0], d.tokens[:0]
	left, context := d.rows, d.model.Config().Context
	for n, i := range items {
		s, blocks, end := d.follow(i), i.Seq.Blocks(), i.Start+i.Tokens
		to := min(end, context, s.done+left)
		if to <= s.done {
			continue
		}
		left -= to - s.done
		from := len(d.tokens)
		d.tokens = i.Seq.tokens(d.tokens, s.done, to)
		c := model.Chunk{Tokens: d.tokens[from:len(d.tokens):len(d.tokens)], Start: s.done, Blocks: blocks}
		d.fill(s, blocks, to)
		if room := min(i.Drafts, context-end+1); to == end && room > 0 {
			c.Logits = 1
			d.lanes = append(d.lanes, lane{item: n, room: room, blocks: blocks, next: end, seq: s})
		}
		d.chunks = append(d.chunks, c)
	}
}

// guess takes the likeliest token of each lane, and makes the chunks for the next
// guess of those that have room for more.
func (d *draftProposer) guess(logits [][]float32) {
	d.chunks = d.chunks[:0]
	open := d.lanes[:0]
	for n, l := range d.lanes {
		g := append(d.guesses[l.item], argmax(logits[n]))
		d.guesses[l.item] = g
		if len(g) == l.room {
			continue
		}
		d.chunks = append(d.chunks, model.Chunk{Tokens: g[len(g)-1:], Start: l.next, Blocks: l.blocks, Logits: 1})
		l.next++
		d.fill(l.seq, l.blocks, l.next)
		open = append(open, l)
	}
	d.lanes = open
}

// follow is how far the draft model has come with an item's sequence: not beyond
// the item's start, since what lies there were guesses.
func (d *draftProposer) follow(i Item) *followedSequence {
	s, blocks := d.seqs[i.Seq], i.Seq.Blocks()
	if s == nil {
		s = &followedSequence{preemptions: -1}
		d.seqs[i.Seq] = s
	}
	if s.preemptions != i.Seq.Preemptions { // its blocks are new, up to the start they come from the prefix cache
		s.preemptions, s.done = i.Seq.Preemptions, d.found(blocks[:i.Start/d.pool.BlockSize()])
	}
	s.done = min(s.done, i.Start)
	size := d.pool.BlockSize()
	for n := s.done / size; n < len(blocks); n++ {
		d.filled[blocks[n]] = max(0, s.done-n*size)
	}
	return s
}

// found is the number of tokens in the leading blocks that are full.
func (d *draftProposer) found(blocks []int) (tokens int) {
	for _, b := range blocks {
		if d.filled[b] < d.pool.BlockSize() {
			break
		}
		tokens += d.pool.BlockSize()
	}
	return tokens
}

// fill notes that a sequence is computed up to a position.
func (d *draftProposer) fill(s *followedSequence, blocks []int, to int) {
	size := d.pool.BlockSize()
	for n := s.done / size; n*size < to; n++ {
		d.filled[blocks[n]] = min(size, to-n*size)
	}
	s.done = to
}
