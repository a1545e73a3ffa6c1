package record

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Gap queues a record of samples that are not in the recording. ErrDropped means that
// the queue is full.
func (w *Writer) Gap(g Gap) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	g.From, g.To, g.Reason = g.From.UTC(), g.To.UTC(), clean(g.Reason)
	select {
	case w.queue <- item{gap: &g}:
		return nil
	default:
		return ErrDropped
	}
}

// Copied counts what was written to a copy.
type Copied struct {
	Samples, Findings, Marks, Gaps int
	Profiles                       int
	Bytes                          int64 // of the file
}

// copyBatch is after how many entries a copy waits for the disk; it is less than the
// queue holds, so that nothing is ever dropped.
const copyBatch = queueSize / 2

// Copy writes a new recording entry by entry. Unlike a recording of something live it
// fails with the first write that fails, and then leaves no file.
type Copy struct {
	w       *Writer
	path    string
	stats   Copied
	queued  int
	pending item      // a sample and its findings, as far as they are known
	profile time.Time // of the last one
}

// NewCopy makes a new recording, as Create does.
func NewCopy(path string, m Manifest) (*Copy, error) {
	w, err := create(path, m, options{queue: queueSize}) // it takes no marks in, and is not made twice
	if err != nil {
		return nil, err
	}
	return &Copy{w: w, path: path}, nil
}

// Add appends an entry. Of what is lost in the original (Entry.Lost) it writes nothing.
func (c *Copy) Add(ctx context.Context, e Entry) error {
	if e.Finding != nil {
		c.pending.findings = append(c.pending.findings, e.Finding)
		c.stats.Findings++
		return nil
	}
	if e.Sample != nil || e.Mark != nil || e.Gap != nil {
		if err := c.send(ctx, e); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// send queues what is pending, and then what e holds or will hold with its findings.
func (c *Copy) send(ctx context.Context, e Entry) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	switch {
	case e.Sample != nil:
		c.pending.sample = e.Sample
		c.stats.Samples++
		if p := e.Sample.Profile; p != nil && !p.At.Equal(c.profile) {
			c.profile = p.At
			c.stats.Profiles++
		}
	case e.Mark != nil:
		c.queued++
		c.stats.Marks++
		return c.w.Mark(e.Mark.At, e.Mark.Text)
	case e.Gap != nil:
		c.queued++
		c.stats.Gaps++
		return c.w.Gap(*e.Gap)
	}
	return nil
}

// flush queues the pending sample; from time to time it waits until all is written.
func (c *Copy) flush(ctx context.Context) error {
	p := c.pending
	c.pending = item{}
	if p.sample == nil && p.findings == nil {
		return nil
	}
	var err error
	if p.sample != nil {
		err = c.w.Write(p.sample, p.findings...)
	} else {
		err = c.w.findings(p.findings)
	}
	if err != nil {
		return err
	}
	if c.queued++; c.queued < copyBatch {
		return nil
	}
	c.queued = 0
	if err := c.w.Flush(); err != nil {
		return fmt.Errorf("writing %s: %w", c.path, err)
	}
	return ctx.Err()
}

// findings queues findings whose sample is lost.
func (w *Writer) findings(f []*Finding) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- item{findings: f}:
		return nil
	default:
		return ErrDropped
	}
}

// Close finishes the file and says what is in it. Without it, or after an error, call Discard.
func (c *Copy) Close(ctx context.Context) (Copied, error) {
	if err := c.flush(ctx); err != nil {
		return c.stats, err
	}
	if err := c.w.Flush(); err != nil {
		return c.stats, fmt.Errorf("writing %s: %w", c.path, err)
	}
	if err := c.w.Close(); err != nil {
		return c.stats, fmt.Errorf("writing %s: %w", c.path, err)
	}
	stats := c.w.Stats()
	c.stats.Bytes = stats.Bytes
	if stats.Dropped > 0 {
		return c.stats, fmt.Errorf("writing %s: %d samples could not be written", c.path, stats.Dropped)
	}
	return c.stats, nil
}

// Discard ends the copy and removes its file.
func (c *Copy) Discard() {
	c.w.Close()
	os.Remove(c.path)
}
