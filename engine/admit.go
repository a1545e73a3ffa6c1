package engine

// admit lets sequences begin, the most urgent class first and each class in the
// order of its queue. When the head of a class does not fit nobody of it overtakes
// it, and less urgent classes only as far as their share goes.
func (p *plan) admit() {
	p.promised = p.promises()
	full := false // a more urgent class waits for room
	for c := Realtime; c <= Background; c++ {
		for q := p.waiting[c.index()].first; q != nil; q = p.waiting[c.index()].first {
			if full && !p.entitled(c) {
				break
			}
			if !p.begin(q) {
				full = true
				break
			}
		}
		if len(p.step.Preempted) > 0 {
			return // what was taken from the classes below is not for them
		}
	}
}

// begin admits the head of a queue if there is room, at the cost of less urgent
// sequences if need be.
func (p *plan) begin(q *Sequence) bool {
	tokens := p.budget - p.tokenReserve(q.Class)
	if tokens < 1 || !p.safe(q) {
		return false
	}
	if !p.fits(q.Class, 0, 0, 0) && !p.outranks(q.Class) {
		return false // whatever it needs: the prefix cache need not be asked at every step
	}
	reused, last := p.blocks.known(q)
	need := p.blocks.BlocksFor(q.Len()) - len(reused) + p.blocks.unheld(reused)
	if !p.fits(q.Class, need, 0, 0) && !p.makeWay(q, reused, need) {
		return false
	}
	p.queue(q).remove(q)
	p.blocks.Share(reused)
	p.place(q, reused, last)
	p.receive(q)
	n := p.chunk(q, tokens)
	q.blocks, _ = p.blocks.Grow(q.blocks, q.computed+n) // it fits
	p.promised += p.promise(q)
	p.take(q, n, 0)
	return true
}

// place makes q a running sequence that has taken over some blocks.
func (p *plan) place(q *Sequence, reused []int, last prefix) {
	q.status = statusRunning
	q.blocks = append(p.table(), reused...)
	q.computed = len(reused) * p.blocks.blockSize
	q.reached = max(q.reached, q.computed)
	q.kept, q.chain = len(reused), last
	if q.Preemptions == 0 {
		q.Cached = q.computed
		p.counts.queries += uint64(q.Len())
		p.counts.hits += uint64(q.Cached)
	}
	p.running = append(p.running, q)
	p.count[q.Class.index()]++
	p.step.Admitted = append(p.step.Admitted, q)
}

// receive takes blocks for the keys and values that have come from another instance,
// the last token's left out: it must be computed for the token after it. They are lost
// with q's blocks like any others.
func (p *plan) receive(q *Sequence) {
	n := min(q.Received, q.Len()-1)
	if q.Preemptions > 0 || n <= q.computed {
		return
	}
	p.counts.received += uint64(n - q.computed)
	q.blocks, _ = p.blocks.Grow(q.blocks, n) // it fits
	q.computed, q.reached = n, max(q.reached, n)
}

// fits reports whether a sequence of a class that needs so many blocks may begin,
// once so many places and blocks more have become free. An engine that runs nothing
// needs no headroom, so whatever Add has let in can always begin.
func (p *plan) fits(c Class, need, places, blocks int) bool {
	if len(p.running)-places+p.placeReserve(c) >= p.limits.MaxNumSeqs {
		return false
	}
	spare := p.blocks.Free() + blocks - p.promised - p.blockReserve(c)
	if len(p.running) > 0 {
		spare -= int(p.limits.Headroom * float64(p.blocks.Total()))
	}
	return need <= spare
}

// safe reports whether q, if it must not be preempted any more, has room for all
// that it may ever need beside the others that must not. Everyone else makes way for
// these, so they never lack a block.
func (p *plan) safe(q *Sequence) bool {
	if !q.aged() {
		return true
	}
	need := p.blocks.BlocksFor(q.most())
	for _, r := range p.running {
		if r.aged() {
			need += p.blocks.BlocksFor(r.most())
		}
	}
	return need <= p.blocks.Total()
}

// promises is the number of blocks that the prompts which have begun will still
// take: they were admitted for their whole length, but take blocks chunk by chunk.
func (p *plan) promises() (blocks int) {
	for _, class := range p.prefills {
		for _, r := range class {
			if r.status == statusRunning {
				blocks += p.promise(r)
			}
		}
	}
	for _, r := range p.step.Admitted {
		blocks += p.promise(r)
	}
	return blocks
}

func (p *plan) promise(q *Sequence) int {
	return max(0, p.blocks.BlocksFor(q.Len())-len(q.blocks))
}
