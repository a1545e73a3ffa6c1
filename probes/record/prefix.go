package record

import (
	"encoding/binary"
	"fmt"
	"time"

	"llmtop/probes"
)

// prefix is what a frame's payload begins with, never compressed: enough to index
// a recording without decoding it.
type prefix struct {
	k        int    // position in the group, 0: key frame
	group    uint64 // number of the group, so that frames of a lost key frame are told
	at       int64  // wall clock, Unix ns
	mono     int64
	seq      uint64
	interval int64
	layout   int
	before   int // key frame: frames of the group before, whose last one its shared sections refer to; 0: none
}

func prefixOf(s *probes.Sample, layout int) prefix {
	return prefix{
		at: s.At.UnixNano(), mono: int64(s.Mono), seq: s.Seq,
		interval: int64(s.Interval), layout: layout,
	}
}

// sample is an empty sample with the prefix's fields.
func (p prefix) sample() *probes.Sample {
	return &probes.Sample{
		Seq: p.seq, At: time.Unix(0, p.at).UTC(), Mono: time.Duration(p.mono), Interval: time.Duration(p.interval),
	}
}

// append writes p; prev is the frame before it in the group and not used by a key frame.
func (p prefix) append(b []byte, prev prefix) []byte {
	b = binary.AppendUvarint(append(b, byte(p.k)), p.group)
	if p.k == 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(p.at))
		b = appendVarint(b, p.mono)
		b = binary.AppendUvarint(b, p.seq)
		b = appendVarint(b, p.interval)
		b = binary.AppendUvarint(b, uint64(p.layout))
		return binary.AppendUvarint(b, uint64(p.before))
	}
	b = appendVarint(b, p.at-prev.at-p.interval)
	b = appendVarint(b, (p.mono-prev.mono)-(p.at-prev.at))
	return appendVarint(b, int64(p.seq-prev.seq-1))
}

// prefix reads what append wrote. prev is the last frame read; a frame that does
// not follow it in its group is an error, since it cannot be decoded.
func (c *cursor) prefix(prev prefix) (prefix, error) {
	p := prefix{k: int(c.byte()), group: c.uvarint()}
	if p.k == 0 {
		p.at, p.mono, p.seq = int64(c.uint64()), c.varint(), c.uvarint()
		p.interval, p.layout = c.varint(), c.count(1<<20)
		p.before = c.count(maxGroupSize)
		return p, c.err
	}
	if c.err == nil && (p.group != prev.group || p.k != prev.k+1) {
		return p, fmt.Errorf("frame %d of group %d: %w", p.k, p.group, errOrphan)
	}
	p.interval, p.layout = prev.interval, prev.layout
	p.at = prev.at + p.interval + c.varint()
	p.mono = prev.mono + (p.at - prev.at) + c.varint()
	p.seq = prev.seq + 1 + uint64(c.varint())
	return p, c.err
}

// errOrphan is a frame whose group lost an earlier frame.
var errOrphan = fmt.Errorf("the frame before it is lost")
