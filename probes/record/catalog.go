package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"llmtop/probes"
)

// What a Reader keeps of what frames refer to.
const (
	keptPages = 64
	keptBlobs = 4
)

// catalog finds layouts, schemas and profiles. Layouts and schemas are in the file
// more than once; any copy will do.
type catalog struct {
	reader  *Reader
	listed  int                               // entries of the index that are in where
	where   map[recordType]map[uint64][]int64 // offsets by id, oldest first
	layouts map[int]*plan
	pages   map[int]*openPage
	blobs   []openBlob
}

type openPage struct {
	endpoint string
	schema   *probes.Schema
}

type openBlob struct {
	id   uint64
	data []byte
}

// offsets are those of the records of a kind with an id.
func (c *catalog) offsets(kind recordType, id uint64) []int64 {
	if c.where == nil {
		c.where = map[recordType]map[uint64][]int64{typeSchema: {}, typeBlob: {}}
	}
	others := c.reader.index.others
	for ; c.listed < len(others); c.listed++ {
		o := others[c.listed]
		if ids := c.where[o.kind]; ids != nil {
			id := c.idAt(o.offset)
			ids[id] = append(ids[id], o.offset)
		}
	}
	return c.where[kind][id]
}

// idAt reads the id that a payload begins with; the CRC is checked when the record is used.
func (c *catalog) idAt(offset int64) uint64 {
	var b [headerSize + binary.MaxVarintLen64]byte
	n, _ := c.reader.src.ReadAt(b[:], offset)
	id, _ := binary.Uvarint(b[min(n, headerSize):n])
	return id
}

// payload reads the record at offset, unpacked from after its id.
func (c *catalog) payload(kind recordType, offset int64, id uint64) ([]byte, error) {
	r := c.reader
	found, err := r.record(offset, r.end)
	if err != nil {
		return nil, err
	}
	cur := cursor{b: found.payload}
	if found.kind != kind || !known(found.flags) || cur.uvarint() != id || cur.err != nil {
		return nil, errMalformed
	}
	return r.unpacker.unpack(cur.b, found.flags)
}

func (c *catalog) schema(id int) (*probes.Schema, string, bool) {
	if p := c.pages[id]; p != nil {
		return p.schema, p.endpoint, true
	}
	for _, offset := range c.offsets(typeSchema, uint64(id)) {
		b, err := c.payload(typeSchema, offset, uint64(id))
		if err != nil {
			continue
		}
		p, err := parsePage(b)
		if err != nil || p.ID != id {
			continue
		}
		open := &openPage{endpoint: p.Endpoint}
		if p.Series != nil {
			open.schema = &probes.Schema{Series: p.Series}
		}
		if c.pages == nil || len(c.pages) >= keptPages {
			c.pages = map[int]*openPage{}
		}
		c.pages[id] = open
		return open.schema, open.endpoint, true
	}
	return nil, "", false
}

func (c *catalog) blob(id uint64) ([]byte, bool) {
	for _, b := range c.blobs {
		if b.id == id {
			return b.data, true
		}
	}
	for _, offset := range c.offsets(typeBlob, id) {
		b, err := c.payload(typeBlob, offset, id)
		if err != nil {
			c.reader.damaged++
			continue
		}
		if len(c.blobs) >= keptBlobs {
			c.blobs = append(c.blobs[:0], c.blobs[1:]...)
		}
		c.blobs = append(c.blobs, openBlob{id, append([]byte{}, b...)})
		return c.blobs[len(c.blobs)-1].data, true
	}
	return nil, false
}

// layout returns the plan of a layout, from any copy of it.
func (c *catalog) layout(id int) (*plan, error) {
	if p := c.layouts[id]; p != nil {
		return p, nil
	}
	err := fmt.Errorf("layout %d is lost", id)
	for _, o := range c.reader.index.others {
		if o.kind != typeLayout {
			continue
		}
		p, e := c.plan(o, id)
		if e != nil {
			err = e
			continue
		}
		if c.layouts == nil || len(c.layouts) >= keptPages {
			c.layouts = map[int]*plan{}
		}
		c.layouts[id] = p
		return p, nil
	}
	return nil, err
}

// plan binds the layout in a record, if it has that id.
func (c *catalog) plan(o otherEntry, id int) (*plan, error) {
	b, err := c.reader.unpacked(o)
	if err != nil {
		return nil, err
	}
	if own, err := own(); err == nil && id == layoutID && bytes.Equal(b, own.json) {
		return own.root, nil
	}
	var l layout
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, err
	}
	if l.ID != id {
		return nil, fmt.Errorf("layout %d is lost", id)
	}
	return bind(l)
}

// json reads a record that is a JSON object.
func (r *Reader) json(o otherEntry, into any) error {
	b, err := r.unpacked(o)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// unpacked is the payload of a record.
func (r *Reader) unpacked(o otherEntry) ([]byte, error) {
	found, err := r.record(o.offset, r.end)
	if err != nil {
		return nil, err
	}
	if found.kind != o.kind || !known(found.flags) {
		return nil, errMalformed
	}
	return r.unpacker.unpack(found.payload, found.flags)
}

// endpoints are those of the pages in the file, in order.
func (c *catalog) endpoints() []string {
	c.offsets(typeSchema, 0)
	var ids []uint64
	for id := range c.where[typeSchema] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []string
	for _, id := range ids[:min(len(ids), keptPages)] {
		if _, endpoint, ok := c.schema(int(id)); ok && !slices.Contains(out, endpoint) {
			out = append(out, endpoint)
		}
	}
	return out
}
