package engine

// makeRoom grows q's table to so many tokens, at the cost of other sequences. It
// reports false when q itself had to go.
func (p *plan) makeRoom(q *Sequence, tokens int) bool {
	for {
		grown, ok := p.blocks.Grow(q.blocks, tokens)
		if q.blocks = grown; ok {
			return true
		}
		v := p.victim(q)
		p.preempt(v)
		if v == q {
			return false
		}
	}
}

// victim is who loses its blocks so that q can grow: the one admitted last of the
// least urgent class that has more than its share, else of the least urgent class,
// among those that are no more urgent than q. That is q itself when there is no
// other. One that must not be preempted any more takes from everybody else.
func (p *plan) victim(q *Sequence) *Sequence {
	for _, within := range []bool{false, true} {
		for c := Background; c >= q.Class; c-- {
			if !within && p.count[c.index()] <= p.guaranteed(c) {
				continue
			}
			if v := p.newest(c); v != nil {
				return v
			}
		}
	}
	for c := q.Class - 1; c >= Realtime && q.aged(); c-- {
		if v := p.newest(c); v != nil {
			return v
		}
	}
	return q
}

// newest is the sequence of a class that was admitted last, those left out that
// must not be preempted any more.
func (p *plan) newest(c Class) *Sequence {
	for i := len(p.running) - 1; i >= 0; i-- {
		if q := p.running[i]; q.Class == c && !q.aged() {
			return q
		}
	}
	return nil
}

// makeWay preempts less urgent sequences so that q, which reuses some blocks and needs
// so many more, can begin: the least urgent class first, in it those admitted last, and none below its
// share. It preempts nobody if that would not do.
func (p *plan) makeWay(q *Sequence, reused []int, need int) bool {
	var victims []*Sequence
	blocks := 0
	for c := Background; c > q.Class; c-- {
		over := p.count[c.index()] - p.guaranteed(c)
		for i := len(p.running) - 1; i >= 0 && over > 0; i-- {
			v := p.running[i]
			if v.Class != c || v.aged() {
				continue
			}
			victims, over = append(victims, v), over-1
			blocks += p.blocks.freed(v.blocks, reused)
			if p.fits(q.Class, need, len(victims), blocks) {
				p.preemptAll(victims)
				return true
			}
		}
	}
	return false
}

// outranks reports whether there is somebody to make way for a sequence of class c.
func (p *plan) outranks(c Class) bool {
	for d := c + 1; d <= Background; d++ {
		if p.count[d.index()] > p.guaranteed(d) {
			return true
		}
	}
	return false
}

func (p *plan) preemptAll(victims []*Sequence) {
	for _, v := range victims {
		p.preempt(v)
	}
	p.promised = p.promises()
}

// preempt frees the blocks of a running sequence and puts it in front of its queue;
// its tokens stay and are computed again later. What it was to compute in this step
// goes back to the budget.
func (p *plan) preempt(q *Sequence) {
	p.giveBack(q)
	p.counts.preempted += uint64(q.computed)
	p.leave(q)
	q.Preemptions++
	q.status = statusWaiting
	p.queue(q).pushFront(q)
	p.step.Preempted = append(p.step.Preempted, q)
}
