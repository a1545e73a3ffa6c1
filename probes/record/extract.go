package record

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"llmtop/probes"
)

// Extract writes the samples from … to (numbers, to not included), with their findings,
// marks, gaps and profiles, to a new recording. After an error there is no new file.
func Extract(ctx context.Context, r *Reader, from, to int, output string) (Copied, error) {
	first, last := firstReadable(r, from, to, 1), firstReadable(r, to-1, from-1, -1)
	if first == nil {
		return Copied{}, fmt.Errorf("extracting: none of the %d samples can be read", max(0, to-from))
	}
	info := r.Info()
	c, err := NewCopy(output, info.Manifest.with("extracted", "%s to %s of %s",
		first.At.Format(time.RFC3339), last.At.Format(time.RFC3339), filepath.Base(info.Path)))
	if err != nil {
		return Copied{}, err
	}
	return c.all(ctx, r.Entries(ctx, from, to))
}

// firstReadable is the first sample, going from one number towards another, that is not damaged.
func firstReadable(r *Reader, from, to, step int) *probes.Sample {
	for i := from; i != to && i >= 0 && i < r.Len(); i += step {
		if s, err := r.At(i); err == nil {
			return s
		}
	}
	return nil
}

// all writes entries and finishes the copy, or removes it.
func (c *Copy) all(ctx context.Context, entries iter.Seq2[Entry, error]) (Copied, error) {
	for e, err := range entries {
		if err == nil {
			err = c.Add(ctx, e)
		}
		if err != nil {
			c.Discard()
			return Copied{}, err
		}
	}
	copied, err := c.Close(ctx)
	if err != nil {
		c.Discard()
	}
	return copied, err
}
