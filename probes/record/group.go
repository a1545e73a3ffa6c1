package record

import (
	"fmt"
	"io"

	"llmtop/probes"
)

// keptGroups is how many decoded groups a Reader keeps, for stepping back.
const keptGroups = 3

// keptMemory bounds what kept groups take, the newest apart.
const keptMemory = 16 << 20

// frameDecoder decodes the frames of a group, of one version of the format.
type frameDecoder interface {
	body(b []byte, s, ref, before *probes.Sample) error
	spent() int // bytes the last sample took, about
}

// openGroup is a group decoded as far as it was asked for.
type openGroup struct {
	number  int
	kind    recordType // of its frames
	decoder frameDecoder
	samples []*probes.Sample
	after   []int64 // offset after each sample's frame
	offset  int64   // where the next frame is looked for
	prefix  prefix
	body    []byte
	memory  int   // bytes its samples take, about
	lost    error // why the samples after these cannot be had
}

// groupWith returns the group of sample i, decoded up to it unless it is damaged,
// and i's place in it.
func (r *volume) groupWith(i int) (*openGroup, int) {
	number := r.index.groupOf(i)
	g := r.keep(number)
	k := i - r.index.groups[number].first
	for len(g.samples) <= k && g.lost == nil {
		if g.lost = r.decodeNext(g); g.lost != nil {
			r.damaged += r.index.groups[number].frames - len(g.samples)
		}
	}
	return g, k
}

// keep returns the open group of that number, opening it if need be.
func (r *volume) keep(number int) *openGroup {
	for i, g := range r.groups {
		if g.number == number {
			r.groups = append(append(r.groups[:i:i], r.groups[i+1:]...), g)
			return g
		}
	}
	g := &openGroup{number: number, offset: r.index.groups[number].offset, prefix: noFrame}
	r.groups = append(r.groups, g)
	memory := 0
	for _, g := range r.groups {
		memory += g.memory
	}
	for len(r.groups) > keptGroups || len(r.groups) > 1 && memory > keptMemory {
		memory -= r.groups[0].memory
		r.groups = append(r.groups[:0], r.groups[1:]...)
	}
	return g
}

// limit is where the group's records end.
func (r *volume) limit(g *openGroup) int64 {
	if g.number+1 < len(r.index.groups) {
		return r.index.groups[g.number+1].offset
	}
	return r.end
}

// decodeNext decodes the next frame of g.
func (r *volume) decodeNext(g *openGroup) error {
	found, err := r.find(g.offset, r.limit(g))
	for err == nil && !found.kind.isFrame() {
		found, err = r.find(found.next(), r.limit(g))
	}
	if err == io.EOF {
		return errMalformed
	}
	if err != nil {
		return err
	}
	if !known(found.flags) {
		return fmt.Errorf("written by a newer llmtop")
	}
	c := cursor{b: found.payload}
	p, err := c.prefix(g.prefix)
	if err != nil {
		return err
	}
	body, err := r.unpacker.unpack(c.b, found.flags)
	if err != nil {
		return err
	}
	if found.flags&flagZstd == 0 {
		g.body = append(g.body[:0], body...) // the window moves when the frame refers to other records
		body = g.body
	}
	return r.decodeFrame(g, p, found.kind, body, found.next())
}

func (r *volume) decodeFrame(g *openGroup, p prefix, kind recordType, body []byte, after int64) error {
	var ref *probes.Sample
	before := r.lastBefore(p)
	if p.k == 0 {
		root, err := r.catalog.layout(p.layout)
		if err != nil {
			return err
		}
		if g.kind, g.decoder = kind, frameDecoder(newDecoder(root, &r.catalog)); kind == typeFrameV1 {
			g.decoder = newV1Decoder(root, &r.catalog)
		}
	} else {
		if kind != g.kind {
			return errMalformed
		}
		ref = g.samples[len(g.samples)-1]
		before = ref
	}
	s := p.sample()
	if err := g.decoder.body(body, s, ref, before); err != nil {
		return err
	}
	g.prefix, g.offset = p, after
	g.memory += g.decoder.spent()
	g.samples, g.after = append(g.samples, s), append(g.after, after)
	return nil
}

// lastBefore is the sample whose frame was written just before the key frame of p,
// when it is at hand.
func (r *volume) lastBefore(p prefix) *probes.Sample {
	for _, g := range r.groups {
		if p.k == 0 && p.before > 0 && g.prefix.group == p.group-1 && len(g.samples) == p.before {
			return g.samples[p.before-1]
		}
	}
	return nil
}
