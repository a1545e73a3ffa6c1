package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"llmtop/probes"
)

// Errors of Open and At.
var (
	ErrEmpty        = errors.New("the file is empty")
	ErrNotRecording = errors.New("not a llmtop recording")
	ErrDamaged      = errors.New("the sample is damaged")
	ErrGone         = fmt.Errorf("%w: its file is gone", ErrDamaged) // dropped by the store's retention
)

// Reader gives back the samples of a recording, in order (Next) or by number
// (At). The recording is a file or a store: a directory of files, in the order in
// which they were written. Samples it returns are never changed; sections that were
// not renewed are the same pointer in successive samples of a file. It is not safe
// for concurrent use.
type Reader struct {
	path     string
	store    bool
	parts    []*part
	open     []*part // whose volumes are open, the last used last
	position int
	wait     func(context.Context) error // nil: Next ends at the end
	unpacker *unpacker
}

// Open opens a recording for reading, whole, cut anywhere, damaged, or still growing;
// a store likewise. Errors: ErrEmpty, ErrNotRecording, one that names a newer format,
// or what the system says.
func Open(path string) (*Reader, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openStore(path)
	}
	u := newUnpacker()
	v, err := openVolume(path, 0, u)
	if err != nil {
		u.z.Close()
		return nil, err
	}
	return readerOf(v), nil
}

// newReader reads src, by its stored index if that is allowed and there.
func newReader(src source, stored bool) (*Reader, error) {
	v, err := newVolume(src, stored, newUnpacker())
	if err != nil {
		return nil, err
	}
	return readerOf(v), nil
}

// readerOf reads one volume, which stays open.
func readerOf(v *volume) *Reader {
	p := &part{path: v.path, volume: v}
	p.learn()
	return &Reader{path: v.path, parts: []*part{p}, open: []*part{p}, unpacker: v.unpacker}
}

// Next returns the next sample, io.EOF after the last (see Follow). Samples that
// are damaged are passed over and counted.
func (r *Reader) Next(ctx context.Context) (*probes.Sample, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for r.position < r.Len() {
			r.position++
			s, err := r.At(r.position - 1)
			if !errors.Is(err, ErrDamaged) {
				return s, err
			}
		}
		if r.wait == nil {
			return nil, io.EOF
		}
		before := r.Len()
		if err := r.refresh(); err != nil {
			return nil, err
		}
		if r.Len() > before {
			continue
		}
		if r.last().clean {
			return nil, io.EOF
		}
		if err := r.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Follow makes Next wait for more at the end of a recording that is not closed
// yet, looking every poll. With poll 0, the default, Next returns io.EOF there.
func (r *Reader) Follow(poll time.Duration) {
	if r.wait = nil; poll <= 0 {
		return
	}
	r.wait = func(ctx context.Context) error {
		t := time.NewTimer(poll)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
}

// Len is the number of samples known so far, damaged ones that the index of a closed file lists among them.
func (r *Reader) Len() int { return r.last().first + r.last().samples }

// Seek makes sample i, held to 0 … Len, the one that Next returns.
func (r *Reader) Seek(i int) { r.position = max(0, min(i, r.Len())) }

// Position is the number of the sample that Next looks at next, Len after the last.
func (r *Reader) Position() int { return r.position }

// At returns sample i; ErrDamaged when it is lost. It reads at most one group.
func (r *Reader) At(i int) (*probes.Sample, error) {
	v, k, err := r.locate(i)
	if err != nil {
		return nil, err
	}
	s, err := v.at(k)
	if err != nil {
		return nil, fmt.Errorf("sample %d: %w", i, err)
	}
	return s, nil
}

// Index is the number of the last sample at or before t, 0 when t is before the first. Where
// the clock was set back it is the last sample after which it passed t, the latest before t when
// it never did; the times just after that, up to the next group, are not looked at.
func (r *Reader) Index(t time.Time) int {
	if r.Len() == 0 || !fitsNano(t) {
		if t.Unix() > 0 {
			return max(0, r.Len()-1)
		}
		return 0
	}
	p := r.partAt(t.UnixNano())
	v, err := r.use(p)
	if err != nil {
		return p.first
	}
	return p.first + min(v.indexOf(t), p.samples-1)
}

// FindingsAt returns what was found in sample i when it was live.
func (r *Reader) FindingsAt(i int) ([]Finding, error) {
	v, k, err := r.locate(i)
	if err != nil {
		return nil, err
	}
	if _, err := v.at(k); err != nil {
		return nil, fmt.Errorf("sample %d: %w", i, err)
	}
	return v.findingsAt(k), nil
}

// Close closes the files.
func (r *Reader) Close() error {
	var err error
	for _, p := range r.open {
		err = errors.Join(err, p.volume.shut())
	}
	r.open = nil
	r.unpacker.z.Close()
	return err
}
