package record

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// index says where things are in a recording. The writer and the scan build it
// alike, record by record; a clean close stores it.
type index struct {
	groups  []groupEntry
	others  []otherEntry
	samples int
	end     int64 // time of the last sample, Unix ns
}

type groupEntry struct {
	offset int64 // of the key frame
	at     int64 // of the key frame, Unix ns
	frames int
	first  int // number of the key frame among all samples
}

// otherEntry is a record that is not a frame.
type otherEntry struct {
	kind   recordType
	offset int64
}

// Bounds of an index, so that no file takes more than some 20 MB for it: of a file at
// 1 Hz in groups of 16, 97 days.
const (
	maxGroups = 1 << 19
	maxOthers = 1 << 18 // what comes after is not listed
)

var errLong = fmt.Errorf("too long for one file: more than %d groups of samples", maxGroups)

// frame notes a frame that follows those before it.
func (x *index) frame(p prefix, offset int64) {
	if p.k == 0 {
		x.groups = append(x.groups, groupEntry{offset: offset, at: p.at, first: x.samples})
	}
	x.groups[len(x.groups)-1].frames++
	x.samples++
	x.end = p.at
}

// other notes a record that is not a frame; some need no index.
func (x *index) other(kind recordType, offset int64) {
	if len(x.others) >= maxOthers {
		return
	}
	switch kind {
	case typeManifest, typeLayout, typeSchema, typeBlob, typeFinding, typeMark, typeGap:
		x.others = append(x.others, otherEntry{kind, offset})
	}
}

// groupOf is the group of sample i, which exists.
func (x *index) groupOf(i int) int {
	return sort.Search(len(x.groups), func(g int) bool { return x.groups[g].first > i }) - 1
}

// groupAt is the last group that begins at or before at, -1 when there is none. A clock
// that was set back leaves the times unsorted; then lastPassed is the one.
func (x *index) groupAt(at int64) int {
	sorted := sort.SliceIsSorted(x.groups, func(i, j int) bool { return x.groups[i].at < x.groups[j].at })
	if sorted {
		return sort.Search(len(x.groups), func(g int) bool { return x.groups[g].at > at }) - 1
	}
	return lastPassed(len(x.groups), func(g int) int64 { return x.groups[g].at }, x.end+1, at)
}

// lastPassed is the last of n times, in the order of the file, from which the clock passed
// t: time(i) ≤ t < time(i+1), where next follows the last one. If it never did, because
// it was set back or the times end before t, it is the latest not after t; -1 for none.
func lastPassed(n int, time func(i int) int64, next, t int64) int {
	best := -1
	for i := n - 1; i >= 0; i-- {
		at := time(i)
		if at <= t && t < next {
			return i
		}
		if at <= t && (best < 0 || at > time(best)) {
			best = i
		}
		next = at
	}
	return best
}

// span is from the earliest to the latest time, Unix ns, of the last sample and those
// that begin a group, which there are; a clock that jumped back leaves them unsorted.
func (x *index) span() (start, end int64) {
	start, end = x.end, x.end
	for _, g := range x.groups {
		start, end = min(start, g.at), max(end, g.at)
	}
	return start, end
}

// append writes the index as the payload of its record.
func (x *index) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(x.groups)))
	var offset, at int64
	for _, g := range x.groups {
		b = binary.AppendUvarint(b, uint64(g.offset-offset))
		b = appendVarint(b, g.at-at)
		b = binary.AppendUvarint(b, uint64(g.frames))
		offset, at = g.offset, g.at
	}
	b = appendVarint(b, x.end-at)
	b = binary.AppendUvarint(b, uint64(len(x.others)))
	offset = 0
	for _, o := range x.others {
		b = binary.AppendUvarint(append(b, byte(o.kind)), uint64(o.offset-offset))
		offset = o.offset
	}
	return b
}

// parseIndex reads what append wrote; size is that of the file.
func parseIndex(b []byte, size int64) (*index, error) {
	c := cursor{b: b}
	x := new(index)
	var offset, at int64
	for range c.count(min(len(b), maxGroups)) {
		g := groupEntry{first: x.samples}
		offset += int64(c.count(int(size - offset)))
		at += c.varint()
		g.offset, g.at, g.frames = offset, at, c.count(maxGroupSize)
		if g.frames == 0 || int64(x.samples+g.frames) > size/headerSize {
			c.fail()
		}
		if c.err != nil {
			return nil, c.err
		}
		x.groups = append(x.groups, g)
		x.samples += g.frames
	}
	x.end = at + c.varint()
	offset = 0
	for range c.count(len(c.b)) {
		kind := recordType(c.byte())
		offset += int64(c.count(int(size - offset)))
		x.other(kind, offset)
		if c.err != nil {
			return nil, c.err
		}
	}
	return x, c.err
}

// endPayload is the payload of an end record: where the index record begins.
func endPayload(index int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(index)) }
