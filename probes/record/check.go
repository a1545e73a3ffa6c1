package record

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"llmtop/probes"
)

// Check says whether a recording is whole, and what is lost.
type Check struct {
	Info            // Samples are those that can be read
	Lost   int      `json:"lost"` // samples that were in the file, as their numbers tell
	Places []Damage `json:"places"`
}

// Damage is a place of a recording where something is lost.
type Damage struct {
	File    string    `json:"file,omitempty"`  // its name in a store
	Offset  int64     `json:"offset"`          // in the file
	Bytes   int64     `json:"bytes"`           // that cannot be read; 0: they are whole, but need something that is lost
	Samples int       `json:"samples"`         // lost, as their numbers tell; 0: something else was lost, or nobody can say
	After   time.Time `json:"after,omitzero"`  // of the last sample before
	Before  time.Time `json:"before,omitzero"` // of the first sample behind
}

// Clean reports that nothing is lost. A file that was not closed may be clean.
func (c *Check) Clean() bool { return len(c.Places) == 0 }

// CheckFile reads every record of a recording, file or store, whatever its indexes say. See
// Open for errors.
func CheckFile(ctx context.Context, path string) (Check, error) {
	return examine(ctx, path, func(Entry) error { return nil })
}

// examine hands each entry to use, and a gap for each place where samples are lost.
func examine(ctx context.Context, path string, use func(Entry) error) (Check, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return examineStore(ctx, path, use)
	}
	return examineFile(ctx, path, use)
}

func examineFile(ctx context.Context, path string, use func(Entry) error) (Check, error) {
	r, src, expected, err := openScanned(path)
	if err != nil {
		return Check{}, err
	}
	defer r.Close()
	defer src.Close()
	info := r.Info()
	c := checker{interval: info.Interval, expected: expected, use: use}
	if err := c.search(ctx, src, info.Bytes); err != nil {
		return Check{}, err
	}
	for e, err := range r.Entries(ctx, 0, r.Len()) {
		if err == nil {
			err = c.entry(e)
		}
		if err != nil {
			return Check{}, err
		}
	}
	if err := c.end(info.Bytes); err != nil {
		return Check{}, err
	}
	c.check.Info = r.Info()
	c.check.Path, c.check.Samples = path, c.good
	return c.check, nil
}

// openScanned opens one file and reads it whole. It also returns how many samples its
// index, if it has one, says there are.
func openScanned(path string) (*Reader, fileSource, int, error) {
	r, err := Open(path) // says what is wrong with a path
	if err != nil {
		return nil, fileSource{}, 0, err
	}
	defer r.Close()
	f, err := os.Open(path)
	if err != nil {
		return nil, fileSource{}, 0, fmt.Errorf("opening recording: %w", err)
	}
	scanned, err := newReader(fileSource{f}, false)
	if err != nil {
		f.Close()
		return nil, fileSource{}, 0, fmt.Errorf("opening recording %s: %w", path, err)
	}
	return scanned, fileSource{f}, r.Len(), nil
}

// span is a stretch of a file.
type span struct{ from, to int64 }

// search finds the stretches that hold no whole record, at most maxListed, and the frames
// that are whole but follow no other.
func (c *checker) search(ctx context.Context, src source, size int64) error {
	scan := records{src: src, budget: searchBudget}
	offset := int64(0)
	previous := noFrame
	for len(c.spans) < maxListed {
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := scan.find(offset, size)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if found.skipped {
			c.spans = append(c.spans, span{offset, found.offset})
		}
		if found.kind.isFrame() && known(found.flags) {
			cur := cursor{b: found.payload}
			if p, err := cur.prefix(previous); err == nil {
				previous = p
			} else if len(c.orphans) < maxListed*groupSize {
				c.orphans = append(c.orphans, found.offset)
			}
		}
		offset = found.next()
	}
	if offset < size && len(c.spans) < maxListed {
		c.spans = append(c.spans, span{offset, size})
	}
	return nil
}

// checker puts together what is lost between two samples.
type checker struct {
	spans    []span
	orphans  []int64 // offsets
	expected int     // samples in all, as the index says
	interval time.Duration
	use      func(Entry) error
	check    Check
	good     int

	last     *probes.Sample
	after    int64 // where the last sample's record ends
	lost     int   // frames that cannot be decoded since
	recorded int   // samples that a gap says were never written, since
}

func (c *checker) entry(e Entry) error {
	switch {
	case e.Lost > 0:
		c.lost += e.Lost
		return nil
	case e.Gap != nil:
		c.recorded += e.Gap.Dropped
	case e.Sample != nil:
		if err := c.sample(e); err != nil {
			return err
		}
	}
	return c.use(e)
}

// sample settles what was lost before a sample.
func (c *checker) sample(e Entry) error {
	err := c.place(e.after, e.Sample)
	c.good++
	c.last, c.after, c.lost, c.recorded = e.Sample, e.after, 0, 0
	return err
}

func (c *checker) end(size int64) error { return c.place(size, nil) }

// place notes what is lost between the last sample and next, which is nil at the end.
func (c *checker) place(before int64, next *probes.Sample) error {
	d := Damage{Offset: c.after}
	n := 0
	for ; n < len(c.spans) && c.spans[n].from < before; n++ {
		d.Bytes += c.spans[n].to - c.spans[n].from
	}
	if n > 0 {
		d.Offset = c.spans[0].from
	}
	c.spans = c.spans[n:]
	for ; len(c.orphans) > 0 && c.orphans[0] < before; c.orphans = c.orphans[1:] {
		c.lost++
	}
	if n == 0 && c.lost == 0 {
		return nil
	}
	d.Samples = max(c.lost, c.missing(next))
	if c.last != nil {
		d.After = c.last.At
	}
	if next != nil {
		d.Before = next.At
	}
	c.check.Lost += d.Samples
	if len(c.check.Places) < maxListed {
		c.check.Places = append(c.check.Places, d)
	}
	if d.Samples == 0 {
		return nil
	}
	return c.use(Entry{Gap: d.gap(c.interval)})
}

// maxMissing bounds what numbers that make no sense can say.
const maxMissing = 100_000_000

// missing is how many samples lie between the last one and next, as their numbers tell.
func (c *checker) missing(next *probes.Sample) int {
	if next == nil {
		return c.expected - c.good - c.check.Lost
	}
	var before uint64
	if c.last != nil {
		before = c.last.Seq
		if next.Mono < c.last.Mono {
			return 0 // another collection
		}
	} else if next.Seq > maxGroupSize {
		return 0 // it need not have begun with 1
	}
	if next.Seq <= before || next.Seq-before > maxMissing {
		return 0
	}
	return max(0, int(next.Seq-before)-1-c.recorded)
}

// gap is what a repaired recording says of it.
func (d *Damage) gap(interval time.Duration) *Gap {
	from, to := d.After.Add(interval), d.Before.Add(-interval)
	switch {
	case d.After.IsZero() && d.Before.IsZero():
		from, to = time.Time{}, time.Time{} // nobody can say when
	case d.After.IsZero():
		from = to
	case d.Before.IsZero(), to.Before(from):
		to = from
	}
	return &Gap{From: from, To: to, Dropped: d.Samples, Reason: "damaged: it could not be read and was left out when the recording was repaired"}
}
