package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"llmtop/probes"

	"golang.org/x/sys/unix"
)

// Append goes on with the recording at path, which nobody is writing: what a writer that
// was killed left of its last record is cut off, nothing else is changed. The hole in
// time becomes a gap. What is no recording of this format and of this user, in a
// regular file at that very path, is refused untouched; so is one that is being
// written, naming the process. An empty file of this user is a recording that was
// killed before its first byte.
func Append(path string, m Manifest) (*Writer, error) {
	return appendTo(path, m, options{path: path, queue: queueSize, spool: spoolOf(path, false)})
}

func appendTo(path string, m Manifest, o options) (*Writer, error) {
	f, c, err := openAppend(path)
	if err != nil {
		return nil, err
	}
	a, err := c.appender(f, stamped(m))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("appending to recording %s: %w", path, err)
	}
	w := prepareWriter(a, o)
	w.before = c.index.samples
	go w.run(a)
	return w, nil
}

// continued is what a new writer must know of a recording that it goes on with.
type continued struct {
	size   int64 // of what is whole, and of a damaged rest that stays
	torn   int64 // bytes of a record that was not finished; they are cut off
	index  index
	ids    int // schemas and profiles have ids up to this
	layout int // id for this version's layout
	group  uint64
	end    time.Time // time of the last sample; zero: none
	marks  []Mark
}

// openAppend opens the recording at path for writing, locks it, and reads what its next
// writer must know. It changes nothing.
func openAppend(path string) (*os.File, *continued, error) {
	f, err := openOwn(path)
	if err != nil {
		return nil, nil, fmt.Errorf("appending to recording %s: %w", path, err)
	}
	c, err := readContinued(fileSource{f})
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("appending to recording %s: %w", path, err)
	}
	return f, c, nil
}

// openOwn opens a file of this user for appending and locks it.
func openOwn(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, errors.New("it is a symbolic link")
	case errors.Is(err, unix.EISDIR):
		return nil, errors.New("it is a directory")
	case errors.Is(err, unix.ENXIO):
		return nil, errors.New("it is not a regular file")
	case err != nil:
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	if err := checkFile(f, true); err != nil {
		f.Close()
		return nil, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is writing it: %w", writerOf(path), ErrBusy)
		}
		return nil, fmt.Errorf("locking: %w", err)
	}
	return f, nil
}

// Errors of Append.
var (
	ErrBusy        = errors.New("one writer at a time")
	ErrOtherFormat = errors.New("only the format that this llmtop writes can be gone on with")
)

// readContinued reads a recording for its next writer.
func readContinued(src source) (*continued, error) {
	u := newUnpacker()
	defer u.z.Close()
	v, err := newVolume(src, true, u)
	if errors.Is(err, ErrEmpty) {
		return &continued{layout: layoutID}, nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case v.lostFirst:
		return nil, errors.New("its first record, which names the format, is damaged; choose a new file")
	case v.end == 0: // cut within the first record
		return &continued{layout: layoutID, torn: v.tail}, nil
	case v.major != formatMajor:
		return nil, fmt.Errorf("format %d; choose a new file: %w", v.major, ErrOtherFormat)
	}
	c := &continued{size: v.end, index: v.index, marks: v.info().Marks}
	if v.tail > 0 && v.torn() {
		c.torn = v.tail
	} else {
		c.size += v.tail
	}
	if v.index.samples > 0 {
		c.end = time.Unix(0, v.index.end).UTC()
	}
	c.ids, c.group = v.lastID(), v.lastGroup()
	c.layout = v.layoutFor()
	return c, nil
}

// torn reports whether what follows the last whole record is the beginning of one.
func (r *volume) torn() bool {
	size := r.end + r.tail
	_, err := r.record(r.end, size)
	if r.tail < headerSize {
		b, e := r.view(r.end, int(r.tail))
		return e == nil && b[0] == sync1 && (len(b) < 2 || b[1] == sync2)
	}
	return errors.Is(err, errTorn)
}

// lastID is an id that no later schema or profile may have, nor one below it. Damage may
// hide some, but the file has room for no more than this: a record and the frame
// that refers to it take more than 32 bytes.
func (r *volume) lastID() int {
	last := uint64((r.end + r.tail) / 32)
	r.catalog.list()
	for _, list := range [][]idOffset{r.catalog.schemas, r.catalog.profile} {
		for _, o := range list {
			if o.id < maxID {
				last = max(last, o.id)
			}
		}
	}
	return int(last)
}

// maxID bounds the ids that are believed.
const maxID = 1 << 30

// lastGroup is the number of the last group, or a number above it when that is lost.
func (r *volume) lastGroup() uint64 {
	group := r.previous.group
	if n := len(r.index.groups); n > 0 {
		found, err := r.find(r.index.groups[n-1].offset, r.end)
		c := cursor{b: found.payload}
		p, e := c.prefix(noFrame)
		if err != nil || e != nil || found.kind != typeFrame {
			return max(group, uint64(r.end)) // no group is shorter than a byte
		}
		group = max(group, p.group)
	}
	return group
}

// layoutFor is the id under which this version's layout is, or can be put, in the file.
func (r *volume) layoutFor() int {
	own, err := own()
	if err != nil {
		return layoutID // newAppender has the same error
	}
	id := 0
	for _, o := range r.index.others {
		switch o.kind {
		case typeManifest:
			id++ // every writer has one, and at most one layout
		case typeLayout:
			b, err := r.unpacked(o)
			var l layout
			if err != nil || json.Unmarshal(b, &l) != nil || l.ID < 0 || l.ID > maxLayoutID {
				continue
			}
			if slices.Equal(b, layoutJSON(own, l.ID)) {
				return l.ID
			}
			id = max(id, l.ID)
		}
	}
	return id + 1
}

// maxLayoutID bounds the layout ids that are believed; frames hold less than 1 << 20.
const maxLayoutID = 1 << 19

// layoutJSON is this version's layout under an id.
func layoutJSON(own ownPlan, id int) []byte {
	if id == layoutID {
		return own.json
	}
	l := ownLayout()
	l.ID = id
	b, err := json.Marshal(l)
	if err != nil {
		return nil
	}
	return b
}

// appender cuts off what is torn and writes what the frames to come need.
func (c *continued) appender(f file, m Manifest) (*appender, error) {
	if c.torn > 0 {
		if err := f.Truncate(c.size); err != nil {
			return nil, fmt.Errorf("cutting off an unfinished record: %w", err)
		}
	}
	a, err := bareAppender(f)
	if err != nil {
		return nil, err
	}
	a.size, a.index, a.layoutID = c.size, c.index, c.layout
	a.prefix.group = c.group
	a.registry.nextID, a.registry.blobID = c.ids, uint64(c.ids)
	a.since, a.known = c.end, c.marks
	return a, a.head(m, c.size == 0)
}

// pause is the gap between the last sample of an earlier writer, at since, and s; nil
// when nothing is missing. How many samples it took is not known: as many as fit.
func pause(since time.Time, s *probes.Sample) *Gap {
	d := s.At.Sub(since)
	if since.IsZero() || s.Interval <= 0 || d <= s.Interval+s.Interval/2 {
		return nil
	}
	return &Gap{
		From: since.Add(s.Interval), To: s.At.Add(-s.Interval).UTC(),
		Dropped: int((d - s.Interval/2) / s.Interval), Reason: "nobody was recording",
	}
}
