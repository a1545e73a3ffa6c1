package record

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"llmtop/probes"
)

// maxListed bounds the gaps, marks and findings that are read into one list.
const maxListed = 10_000

// Info says what is in a recording.
type Info struct {
	Path           string        `json:"path"`
	Files          int           `json:"files"` // of a store; 1
	Bytes          int64         `json:"bytes"`
	Samples        int           `json:"samples"`
	Start          time.Time     `json:"start,omitzero"` // of the first sample; the earliest, should the clock have jumped
	End            time.Time     `json:"end,omitzero"`   // of the last sample; the latest likewise
	Duration       time.Duration `json:"duration"`       // ns
	Interval       time.Duration `json:"interval"`       // planned, ns
	BytesPerSample float64       `json:"bytes_per_sample"`
	Engines        []string      `json:"engines"`     // endpoints
	Findings       int           `json:"findings"`    // records of them
	Gaps           []Gap         `json:"gaps"`        // samples that were never written
	Marks          []Mark        `json:"marks"`       // also those that wait beside the recording
	Events         []Happened    `json:"events"`      // by kind; Verify only
	Damaged        int           `json:"damaged"`     // records and samples found lost so far; Verify reads all
	Unknown        int           `json:"unknown"`     // records from a newer llmtop, passed over
	TailBytes      int64         `json:"tail_bytes"`  // at the end, not (yet) a whole record
	CleanClose     bool          `json:"clean_close"` // the writer closed the file; of a store: the newest
	Manifest       Manifest      `json:"manifest"`    // of the newest writer
}

// Info reads what it does not know yet: gaps, marks, endpoints.
func (r *Reader) Info() Info {
	var all Info
	for _, p := range r.parts {
		v, err := r.use(p)
		if err != nil {
			all.add(p.lostInfo())
			continue
		}
		all.add(v.info())
	}
	return r.whole(all)
}

// whole is the sum over all files as the recording's.
func (r *Reader) whole(all Info) Info {
	all.Path, all.CleanClose = r.path, r.last().clean
	all.Duration = all.End.Sub(all.Start)
	if all.Samples > 0 {
		all.BytesPerSample = float64(all.Bytes) / float64(all.Samples)
	}
	for _, m := range spooled(spoolOf(r.path, r.store)) {
		if !slices.Contains(all.Marks, m) && len(all.Marks) < maxListed {
			all.Marks = append(all.Marks, m)
		}
	}
	return all
}

// lostInfo is what is still known of a file that cannot be read.
func (p *part) lostInfo() Info {
	i := Info{Samples: p.samples, Damaged: p.damaged, Files: 1}
	if errors.Is(p.lost, ErrGone) || errors.Is(p.lost, fs.ErrNotExist) {
		i.Files = 0
	}
	i.Damaged += p.samples
	return i
}

// add takes in what is in a later file.
func (i *Info) add(o Info) {
	i.Files += o.Files
	i.Bytes += o.Bytes
	if o.Samples > 0 && !o.Start.IsZero() {
		if i.Start.IsZero() || o.Start.Before(i.Start) {
			i.Start = o.Start
		}
		if o.End.After(i.End) {
			i.End = o.End
		}
	}
	i.Samples += o.Samples
	i.Findings, i.Damaged, i.Unknown, i.TailBytes = i.Findings+o.Findings, i.Damaged+o.Damaged, i.Unknown+o.Unknown, i.TailBytes+o.TailBytes
	for _, e := range o.Engines {
		if !slices.Contains(i.Engines, e) && len(i.Engines) < keptPages {
			i.Engines = append(i.Engines, e)
		}
	}
	i.Gaps = append(i.Gaps, o.Gaps[:min(len(o.Gaps), maxListed-len(i.Gaps))]...)
	i.Marks = append(i.Marks, o.Marks[:min(len(o.Marks), maxListed-len(i.Marks))]...)
	for _, h := range o.Events {
		i.Events = merge(i.Events, h)
	}
	if o.Manifest.Format != "" {
		i.Interval, i.Manifest = o.Interval, o.Manifest
	}
}

// info is what the file's index says, and its gaps, marks and endpoints.
func (r *volume) info() Info {
	i := Info{
		Files: 1, Bytes: r.end + r.tail, Samples: r.index.samples, Interval: r.manifest.Interval,
		Manifest: r.manifest, TailBytes: r.tail, Engines: r.catalog.endpoints(), Unknown: r.unknown,
	}
	if len(r.index.groups) > 0 {
		start, end := r.span()
		i.Start, i.End = time.Unix(0, start).UTC(), time.Unix(0, end).UTC()
	}
	for _, o := range r.index.others {
		switch {
		case o.kind == typeFinding:
			i.Findings++
		case o.kind == typeGap && len(i.Gaps) < maxListed:
			var g Gap
			if r.json(o, &g) == nil {
				g.Reason = printable(g.Reason)
				i.Gaps = append(i.Gaps, g)
			}
		}
	}
	i.Damaged, i.Marks = r.lostRecords(), r.marks()
	return i
}

// marks are those in the file.
func (r *volume) marks() (out []Mark) {
	for _, o := range r.index.others {
		var m Mark
		if o.kind == typeMark && len(out) < maxListed && r.json(o, &m) == nil {
			m.Text = printable(m.Text)
			out = append(out, m)
		}
	}
	return out
}

// NewestMarks are the marks in the newest file, and those that wait beside the recording:
// where marks are found that were set lately, without opening the other files.
func (r *Reader) NewestMarks() []Mark {
	var out []Mark
	if v, err := r.use(r.last()); err == nil {
		out = v.marks()
	}
	return append(out, spooled(spoolOf(r.path, r.store))...)
}

// lostRecords counts what was found lost, the first record too.
func (r *volume) lostRecords() int {
	if r.lostFirst {
		return r.damaged + 1
	}
	return r.damaged
}

// loadManifest takes the newest one that can be read: the last writer's.
func (r *volume) loadManifest() {
	for _, o := range slices.Backward(r.index.others) {
		var m Manifest
		if o.kind == typeManifest && r.json(o, &m) == nil {
			m.printable()
			r.manifest = m
			return
		}
	}
}

// findingsAt returns what was found in sample i, which can be read.
func (r *volume) findingsAt(i int) []Finding {
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
	return out
}

// Verify reads the whole recording, whatever its indexes say, decodes every sample and
// returns what there is: Samples are those that can be had, Damaged counts the rest;
// Events are what happened in it.
func (r *Reader) Verify(ctx context.Context) (Info, error) {
	var all Info
	for _, p := range r.parts {
		v, err := r.use(p)
		if err != nil {
			i := p.lostInfo()
			i.Samples = 0
			all.add(i)
			continue
		}
		i, err := v.verify(ctx)
		if err != nil {
			return Info{}, err
		}
		all.add(i)
	}
	return r.whole(all), nil
}

func (r *volume) verify(ctx context.Context) (Info, error) {
	v, err := newVolume(r.src, false, r.unpacker)
	if err != nil {
		return Info{}, err
	}
	var seen chronicle
	good := 0
	for i := range v.index.samples {
		if err := ctx.Err(); err != nil {
			return Info{}, err
		}
		var s *probes.Sample
		if s, err = v.at(i); err != nil {
			continue
		}
		good++
		seen.note(s)
	}
	i := v.info()
	i.Samples, i.Events = good, seen.happened
	return i, nil
}
