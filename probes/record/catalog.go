package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"llmtop/probes"
)

// What a Reader keeps of what frames refer to.
const (
	keptPages     = 64
	keptPageBytes = 4 << 20 // of their records, the newest apart
	keptBlobs     = 4
	keptBlobBytes = 4 << 20 // the newest apart
)

// catalog finds layouts, schemas and profiles. Layouts and schemas are in the file
// more than once; any copy will do.
type catalog struct {
	reader  *volume
	listed  int        // entries of the index that are in where
	schemas []idOffset // sorted; the copies of one oldest first
	profile []idOffset // blobs, likewise
	layouts map[int]*plan
	pages   map[int]*openPage
	paged   int // bytes of the pages' records
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

// idOffset is where a record with an id is.
type idOffset struct {
	id     uint64
	offset int64
}

// list reads the ids of the schemas and blobs that the index has got since.
func (c *catalog) list() {
	others := c.reader.index.others
	if c.listed == len(others) {
		return
	}
	for ; c.listed < len(others); c.listed++ {
		o := others[c.listed]
		switch o.kind {
		case typeSchema:
			c.schemas = append(c.schemas, idOffset{c.idAt(o.offset), o.offset})
		case typeBlob:
			c.profile = append(c.profile, idOffset{c.idAt(o.offset), o.offset})
		}
	}
	byID := func(a, b idOffset) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.offset, b.offset)) }
	slices.SortFunc(c.schemas, byID)
	slices.SortFunc(c.profile, byID)
}

// withID are the entries of an id.
func withID(list []idOffset, id uint64) []idOffset {
	i, _ := slices.BinarySearchFunc(list, id, func(o idOffset, id uint64) int { return cmp.Compare(o.id, id) })
	j := i
	for j < len(list) && list[j].id == id {
		j++
	}
	return list[i:j]
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
	c.list()
	for _, o := range withID(c.schemas, uint64(id)) {
		b, err := c.payload(typeSchema, o.offset, uint64(id))
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
		if c.paged += len(b); c.pages == nil || len(c.pages) >= keptPages || c.paged > keptPageBytes {
			c.pages, c.paged = map[int]*openPage{}, len(b)
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
	c.list()
	for _, o := range withID(c.profile, id) {
		b, err := c.payload(typeBlob, o.offset, id)
		if err != nil {
			c.reader.damaged++
			continue
		}
		c.blobs = append(c.blobs, openBlob{id, append([]byte{}, b...)})
		bytes := 0
		for _, b := range c.blobs {
			bytes += len(b.data)
		}
		for len(c.blobs) > keptBlobs || len(c.blobs) > 1 && bytes > keptBlobBytes {
			bytes -= len(c.blobs[0].data)
			c.blobs = append(c.blobs[:0], c.blobs[1:]...)
		}
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
func (r *volume) json(o otherEntry, into any) error {
	b, err := r.unpacked(o)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// unpacked is the payload of a record.
func (r *volume) unpacked(o otherEntry) ([]byte, error) {
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
	c.list()
	var out []string
	tried := 0
	for i, o := range c.schemas {
		if i > 0 && o.id == c.schemas[i-1].id {
			continue
		}
		if tried++; tried > keptPages {
			break
		}
		if _, endpoint, ok := c.schema(int(o.id)); ok && !slices.Contains(out, endpoint) {
			out = append(out, endpoint)
		}
	}
	return out
}
