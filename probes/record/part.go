package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"

	"golang.org/x/sys/unix"
)

// openParts is how many files of a store a Reader has open at once: the one being
// read, its neighbour, and the newest. Of the others it keeps what a part holds.
const openParts = 3

// part is what a Reader knows of one of its files without having it open.
type part struct {
	path       string
	id         os.FileInfo // which file it is; nil: not a file
	first      int         // number of its first sample in the recording
	samples    int
	start, end int64 // earliest and latest time, Unix ns; 0 without samples
	clean      bool  // closed by its writer, and nothing after that
	damaged    int
	lost       error // why it cannot be read any more
	volume     *volume
}

// learn takes over what the open volume knows.
func (p *part) learn() {
	v := p.volume
	p.samples, p.clean, p.damaged = v.index.samples, v.clean && v.tail == 0, max(p.damaged, v.lostRecords())
	if len(v.index.groups) > 0 {
		p.start, p.end = v.span()
	}
}

func (r *Reader) last() *part { return r.parts[len(r.parts)-1] }

// locate opens the file of sample i and says which of its samples that is.
func (r *Reader) locate(i int) (*volume, int, error) {
	if i < 0 || i >= r.Len() {
		return nil, 0, fmt.Errorf("sample %d of %d: out of range", i, r.Len())
	}
	p := r.parts[sort.Search(len(r.parts), func(k int) bool { return r.parts[k].first+r.parts[k].samples > i })]
	v, err := r.use(p)
	if err != nil {
		return nil, 0, fmt.Errorf("sample %d: %w", i, err)
	}
	return v, i - p.first, nil
}

// partAt is the last part with samples that begins at or before at (see lastPassed); the
// first one with samples, which there are, when none does.
func (r *Reader) partAt(at int64) *part {
	var filled []*part
	for _, p := range r.parts {
		if p.samples > 0 {
			filled = append(filled, p)
		}
	}
	i := lastPassed(len(filled), func(i int) int64 { return filled[i].start }, filled[len(filled)-1].end+1, at)
	return filled[max(i, 0)]
}

// span is from the earliest to the latest time, Unix ns, of the samples there are; both
// are 0 without any.
func (r *Reader) span() (start, end int64) {
	for first, p := true, 0; p < len(r.parts); p++ {
		if x := r.parts[p]; x.samples > 0 {
			if first {
				start, end, first = x.start, x.end, false
			}
			start, end = min(start, x.start), max(end, x.end)
		}
	}
	return start, end
}

// use returns the part's volume, opened if need be; others are closed for it. A file
// that is gone, or is another one by now, is lost for good.
func (r *Reader) use(p *part) (*volume, error) {
	if p.lost != nil {
		return nil, p.lost
	}
	for i, open := range r.open {
		if open != p {
			continue
		}
		if i != len(r.open)-1 {
			r.open[len(r.open)-1].volume.groups = nil // decoded samples are kept of one file only
			r.open = append(append(r.open[:i:i], r.open[i+1:]...), p)
		}
		return p.volume, nil
	}
	if err := r.reopen(p); err != nil {
		p.lost = err
		return nil, err
	}
	return p.volume, nil
}

func (r *Reader) reopen(p *part) error {
	v, id, err := openPart(p.path, r.unpacker)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s", ErrGone, p.path)
	case err != nil:
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	case p.id != nil && !os.SameFile(id, p.id) || v.index.samples < p.samples:
		v.shut()
		return fmt.Errorf("%w: %s is another file by now", ErrGone, p.path)
	}
	p.id, p.volume = id, v
	r.makeRoom()
	r.open = append(r.open, p)
	return nil
}

// makeRoom closes the parts that were not used for the longest, but not the newest.
func (r *Reader) makeRoom() {
	if n := len(r.open); n > 0 {
		r.open[n-1].volume.groups = nil
	}
	for len(r.open) >= openParts {
		i := 0
		if r.open[i] == r.last() {
			i++
		}
		p := r.open[i]
		p.damaged = max(p.damaged, p.volume.lostRecords())
		p.volume.shut()
		p.volume = nil
		r.open = append(r.open[:i:i], r.open[i+1:]...)
	}
}

// openPart opens a file of a store, never through a link, and says which one it is.
func openPart(path string, u *unpacker) (*volume, os.FileInfo, error) {
	v, err := openVolume(path, unix.O_NOFOLLOW, u)
	if err != nil {
		return nil, nil, err
	}
	id, err := v.src.(fileSource).Stat()
	if err != nil {
		v.shut()
		return nil, nil, err
	}
	return v, id, nil
}
