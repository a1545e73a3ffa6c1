package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A store's files are named by the time of their first sample, UTC, and a number when
// that name is taken. Names grow: sorted, they are the order of writing, whatever the
// clock did.
const storeTime = "20060102T150405Z"

var storeName = regexp.MustCompile(`^(\d{8}T\d{6}Z)(?:-(\d{4}))?\.llmrec$`)

// storeNames are the names of the files in a store, in the order of writing.
func storeNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading store: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && isStoreName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, compareNames)
	return names, nil
}

// isStoreName reports whether a store may have made a file of this name: one that has a
// time, to which a second can be added.
func isStoreName(name string) bool {
	m := storeName.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	at, err := time.Parse(storeTime, m[1])
	return err == nil && at.Year() < 9999
}

// compareNames puts a name without a number before those with one.
func compareNames(a, b string) int {
	return strings.Compare(strings.TrimSuffix(a, ".llmrec"), strings.TrimSuffix(b, ".llmrec"))
}

// nextName is a name for a file that begins at at and follows newest ("": none).
func nextName(at time.Time, newest string) string {
	stamp := at.UTC().Format(storeTime)
	m := storeName.FindStringSubmatch(newest)
	if !isStoreName(newest) || stamp > m[1] {
		return stamp + ".llmrec"
	}
	n, _ := strconv.Atoi(m[2])
	if t, err := time.Parse(storeTime, m[1]); err == nil && n == 9999 {
		return nextName(t.Add(time.Second), newest) // a clock that stands: the next second is as good
	}
	return fmt.Sprintf("%s-%04d.llmrec", m[1], n+1)
}

// openStore opens all files of a store, one after the other.
func openStore(dir string) (*Reader, error) {
	r := &Reader{path: dir, store: true, unpacker: newUnpacker()}
	names, err := storeNames(dir)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s holds no recordings of a store: %w", dir, ErrNotRecording)
	}
	if err == nil {
		err = r.extend(names)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// extend takes in files that follow those there are. One that cannot be read counts as
// damage; when none can, the reason of the newest is the error.
func (r *Reader) extend(names []string) error {
	var why error
	for _, name := range names {
		p := &part{path: filepath.Join(r.path, name)}
		if len(r.parts) > 0 {
			p.first = r.Len()
		}
		v, id, err := openPart(p.path, r.unpacker)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue // dropped since
		case errors.Is(err, ErrEmpty) && name == names[len(names)-1]:
			continue // its writer has only just begun: it is there at the next look
		case err != nil:
			why, p.lost, p.damaged = err, fmt.Errorf("%w: %v", ErrDamaged, err), 1
		default:
			p.id, p.volume = id, v
			r.makeRoom()
			r.open = append(r.open, p)
		}
		r.parts = append(r.parts, p)
		if p.volume != nil {
			p.learn()
		}
	}
	if len(r.parts) == 0 {
		return fmt.Errorf("opening store %s: %w", r.path, ErrEmpty)
	}
	if why != nil && len(r.open) == 0 {
		return why
	}
	return nil
}

// newer are the files of the store that follow the last one that is known.
func (r *Reader) newer() ([]string, error) {
	if !r.store {
		return nil, nil
	}
	names, err := storeNames(r.path)
	if err != nil {
		return nil, err
	}
	known := filepath.Base(r.last().path)
	i, found := slices.BinarySearchFunc(names, known, compareNames)
	if found {
		i++
	}
	return names[i:], nil
}

// refresh takes in what was written since. A writer makes the next file before it ends
// the one before, and writes nothing more to that: so the names are read first, and
// once more when the last file turns out to be closed.
func (r *Reader) refresh() error {
	for checked := false; ; {
		names, err := r.newer()
		if err != nil {
			return err
		}
		if err := r.refreshLast(); err != nil {
			return err
		}
		before := len(r.parts)
		if err := r.extend(names); err != nil {
			return err
		}
		if len(r.parts) == before {
			if checked || !r.store || !r.last().clean {
				return nil
			}
			checked = true
		}
	}
}

func (r *Reader) refreshLast() error {
	p := r.last()
	v, err := r.use(p)
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := v.refresh(); err != nil {
		return err
	}
	p.learn()
	return nil
}
