package record

import (
	"context"
	"io"
	"time"
)

// maxListed bounds the gaps, marks and findings that are read into one list.
const maxListed = 10_000

// Info says what is in a recording.
type Info struct {
	Path           string        `json:"path"`
	Bytes          int64         `json:"bytes"`
	Samples        int           `json:"samples"`
	Start          time.Time     `json:"start,omitzero"` // of the first sample; the earliest, should the clock have jumped
	End            time.Time     `json:"end,omitzero"`   // of the last sample; the latest likewise
	Duration       time.Duration `json:"duration"`       // ns
	Interval       time.Duration `json:"interval"`       // planned, ns
	BytesPerSample float64       `json:"bytes_per_sample"`
	Engines        []string      `json:"engines"`  // endpoints
	Findings       int           `json:"findings"` // records of them
	Gaps           []Gap         `json:"gaps"`     // samples that were never written
	Marks          []Mark        `json:"marks"`
	Damaged        int           `json:"damaged"`     // records and samples found lost so far; Verify reads all
	Unknown        int           `json:"unknown"`     // records from a newer llmtop, passed over
	TailBytes      int64         `json:"tail_bytes"`  // at the end, not (yet) a whole record
	CleanClose     bool          `json:"clean_close"` // the writer closed the file
	Manifest       Manifest      `json:"manifest"`
}

// Info reads what it does not know yet: gaps, marks, endpoints.
func (r *Reader) Info() Info {
	i := Info{
		Path: r.path, Bytes: r.end + r.tail, Samples: r.Len(), Interval: r.manifest.Interval,
		Manifest: r.manifest, CleanClose: r.clean && r.tail == 0, TailBytes: r.tail,
		Engines: r.catalog.endpoints(), Unknown: r.unknown,
	}
	if len(r.index.groups) > 0 {
		start, end := r.index.span()
		i.Start, i.End = time.Unix(0, start).UTC(), time.Unix(0, end).UTC()
		i.Duration = i.End.Sub(i.Start)
		i.BytesPerSample = float64(i.Bytes) / float64(i.Samples)
	}
	for _, o := range r.index.others {
		switch {
		case o.kind == typeFinding:
			i.Findings++
		case o.kind == typeMark && len(i.Marks) < maxListed:
			var m Mark
			if r.json(o, &m) == nil {
				m.Text = printable(m.Text)
				i.Marks = append(i.Marks, m)
			}
		case o.kind == typeGap && len(i.Gaps) < maxListed:
			var g Gap
			if r.json(o, &g) == nil {
				g.Reason = printable(g.Reason)
				i.Gaps = append(i.Gaps, g)
			}
		}
	}
	i.Damaged = r.damaged
	if r.lostFirst {
		i.Damaged++
	}
	return i
}

// loadManifest takes the first copy that can be read.
func (r *Reader) loadManifest() {
	for _, o := range r.index.others {
		if o.kind == typeManifest && r.json(o, &r.manifest) == nil {
			r.manifest.printable()
			return
		}
	}
}

// FindingsAt returns what was found in sample i when it was live.
func (r *Reader) FindingsAt(i int) ([]Finding, error) {
	if _, err := r.At(i); err != nil {
		return nil, err
	}
	g, k := r.groupWith(i)
	var out []Finding
	offset := g.after[k]
	for len(out) < maxListed {
		found, err := r.find(offset, r.end)
		if err != nil || found.kind.isFrame() || found.skipped {
			break
		}
		var f Finding
		if found.kind == typeFinding && r.json(otherEntry{typeFinding, found.offset}, &f) == nil {
			f.State, f.Cause, f.Line = printable(f.State), printable(f.Cause), printable(f.Line)
			out = append(out, f)
		}
		offset = found.next()
	}
	return out, nil
}

// Verify reads the whole file, whatever its index says, decodes every sample and
// returns what there is: Samples are those that can be had, Damaged counts the rest.
func (r *Reader) Verify(ctx context.Context) (Info, error) {
	v, err := newReader(r.src, false)
	if err != nil {
		return Info{}, err
	}
	defer v.Close()
	v.path = r.path
	good := 0
	for {
		_, err := v.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return Info{}, err
		}
		good++
	}
	i := v.Info()
	i.Samples = good
	return i, nil
}
