package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"llmtop/probes"
)

// page is a schema record: the series of an endpoint's page. Frames refer to it by id.
type page struct {
	ID       int             `json:"id"`
	Endpoint string          `json:"endpoint"`
	Series   []probes.Series `json:"series"` // null: a scrape without a schema
}

// Series of one page, and labels of one series, that a reader accepts.
const (
	maxSeries = 200_000
	maxLabels = 256
)

// copyEvery is after how many groups what all frames need is written again, so
// that no single damaged record makes a long recording unreadable. The first
// copy follows in the group after.
const copyEvery = 64

// repeated is a record that later frames need.
type repeated struct {
	kind    recordType
	flags   uint8
	payload []byte
	copies  int
	group   uint64 // of the last copy
	used    uint64 // last group that referred to it
}

// due reports whether another copy should be written at the start of group.
func (r *repeated) due(group uint64) bool {
	return r.copies == 1 && group > r.group || group >= r.group+copyEvery
}

func (r *repeated) appendTo(b []byte, group uint64) []byte {
	r.copies, r.group = r.copies+1, group
	return appendRecord(b, r.kind, r.flags, r.payload)
}

type pageKey struct {
	schema   *probes.Schema
	endpoint string
}

// registry gives schemas and profiles their ids and writes each once (schemas
// again now and then) before the frame that refers to it.
type registry struct {
	packer  *packer
	pending []byte // records to go before the frame
	group   uint64
	key     bool // the frame under way begins a group

	pages   map[pageKey]int
	content map[[sha256.Size]byte]int
	records map[int]*repeated
	nextID  int

	lastBlob []byte
	blobID   uint64
	err      error
}

func newRegistry(p *packer) *registry {
	return &registry{
		packer: p, pages: map[pageKey]int{},
		content: map[[sha256.Size]byte]int{}, records: map[int]*repeated{},
	}
}

// begin starts the frame of a group.
func (r *registry) begin(group uint64, key bool) {
	r.pending, r.group, r.key, r.err = r.pending[:0], group, key, nil
	if key {
		r.forget()
	}
}

// forget drops schemas that nothing has used for copyEvery groups.
func (r *registry) forget() {
	for k, id := range r.pages {
		if rec := r.records[id]; rec == nil || r.group > rec.used+copyEvery {
			delete(r.pages, k)
			delete(r.records, id)
		}
	}
	for sum, id := range r.content {
		if r.records[id] == nil {
			delete(r.content, sum)
		}
	}
}

// known reports whether id can still be referred to.
func (r *registry) known(id int) bool { return r.records[id] != nil }

func (r *registry) schema(s *probes.Scrape) int {
	k := pageKey{s.Schema, s.Endpoint}
	id, ok := r.pages[k]
	if !ok {
		id = r.register(k)
	}
	rec := r.records[id]
	rec.used = r.group
	if rec.copies == 0 || r.key && rec.due(r.group) {
		r.pending = rec.appendTo(r.pending, r.group)
	}
	return id
}

// register finds a schema of the same content, or gives this one a new id.
func (r *registry) register(k pageKey) int {
	p := page{Endpoint: clean(k.endpoint)}
	if k.schema != nil {
		p.Series = append([]probes.Series{}, k.schema.Series...)
	}
	same, err := marshal(p)
	if err != nil && r.err == nil {
		r.err = err
	}
	sum := sha256.Sum256(same)
	if id, ok := r.content[sum]; ok {
		r.pages[k] = id
		return id
	}
	r.nextID++
	p.ID = r.nextID
	b, _ := marshal(p)
	packed, flags := r.packer.pack(b)
	payload := append(binary.AppendUvarint(nil, uint64(p.ID)), packed...)
	r.records[p.ID] = &repeated{kind: typeSchema, flags: flags, payload: payload}
	r.pages[k], r.content[sum] = p.ID, p.ID
	return p.ID
}

// blob writes b as a record unless it is the one written last.
func (r *registry) blob(b []byte) uint64 {
	if b == nil {
		return 0
	}
	if r.blobID == 0 || !sameBytes(b, r.lastBlob) {
		r.blobID, r.lastBlob = r.blobID+1, b
		r.pending = appendRecord(r.pending, typeBlob, 0, append(binary.AppendUvarint(nil, r.blobID), b...))
	}
	return r.blobID
}

// lost makes the next frames write what records a failed write took along.
func (r *registry) lost() {
	clear(r.pages)
	clear(r.content)
	clear(r.records)
	r.lastBlob = nil
	r.blobID++ // an id is never used twice
}

// parsePage reads a schema record. Its text is safe to show.
func parsePage(b []byte) (page, error) {
	var p page
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("schema: %w", err)
	}
	if len(p.Series) > maxSeries {
		return p, fmt.Errorf("schema with %d series: more than %d", len(p.Series), maxSeries)
	}
	p.Endpoint = printable(p.Endpoint)
	for i := range p.Series {
		s := &p.Series[i]
		if len(s.Labels) > maxLabels {
			return p, fmt.Errorf("series with %d labels: more than %d", len(s.Labels), maxLabels)
		}
		s.Family, s.Name = printable(s.Family), printable(s.Name)
		for j := range s.Labels {
			s.Labels[j].Name, s.Labels[j].Value = printable(s.Labels[j].Name), printable(s.Labels[j].Value)
		}
	}
	return p, nil
}
