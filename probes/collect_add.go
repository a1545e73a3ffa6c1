package probes

import "io"

// Add starts reading more probes; the next sample has them. After Close it closes them.
// Safe for concurrent use, also from a probe's Read.
func (c *Collector) Add(probes ...Scheduled) {
	c.adding.Lock()
	defer c.adding.Unlock()
	for _, p := range probes {
		if c.ctx.Err() != nil {
			if closer, ok := p.Probe.(io.Closer); ok {
				closer.Close()
			}
			continue
		}
		every := p.Every
		if every <= 0 {
			every = c.interval
		}
		w := &worker{probe: p.Probe, name: Printable(p.Probe.Name(), 60), every: every, began: c.began, first: make(chan struct{})}
		c.workers = append(c.workers, w)
		c.ends.Go(func() { w.run(c.ctx) })
	}
}

// reading lists the workers there are now.
func (c *Collector) reading() []*worker {
	c.adding.Lock()
	defer c.adding.Unlock()
	return c.workers[:len(c.workers):len(c.workers)]
}
