package export

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
)

// JSON writes one object a line. Each has a "type": first "recording", which names the
// signals and their units; then, in the order of the file, "sample", "finding", "event",
// "mark", "gap" and "lost". The value of a signal that cannot be seen is null.
func JSON(ctx context.Context, w io.Writer, r *record.Reader, o Options) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(o.head(r)); err != nil {
		return err
	}
	var last *probes.Sample
	for row, err := range o.rows(ctx, r, true) {
		if err != nil {
			return err
		}
		for _, line := range o.lines(row, last) {
			if err := out.Encode(line); err != nil {
				return err
			}
		}
		if row.Sample != nil {
			last = row.Sample
		}
	}
	return nil
}

type headLine struct {
	Type     string          `json:"type"`
	Manifest record.Manifest `json:"manifest"`
	Signals  []signalHead    `json:"signals"`
}

type signalHead struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Title string `json:"title"`
}

func (o *Options) head(r *record.Reader) headLine {
	h := headLine{Type: "recording", Manifest: r.Info().Manifest}
	for _, s := range o.Signals {
		h.Signals = append(h.Signals, signalHead{s.Name, s.Unit, s.Title})
	}
	return h
}

type sampleLine struct {
	Type    string     `json:"type"`
	Time    time.Time  `json:"time"`
	Seq     uint64     `json:"seq"`
	Signals valuesJSON `json:"signals"`
	Raw     []rawPage  `json:"raw,omitempty"`
}

// lines are the JSON objects of a row.
func (o *Options) lines(r row, last *probes.Sample) (out []any) {
	switch {
	case r.Sample != nil:
		out = append(out, sampleLine{Type: "sample", Time: r.Sample.At, Seq: r.Sample.Seq, Signals: o.values(r), Raw: o.pages(r.Sample, last)})
		for _, e := range r.Sample.Events {
			out = append(out, struct {
				Type string    `json:"type"`
				Time time.Time `json:"time"`
				Kind string    `json:"kind"`
				Text string    `json:"text"`
			}{"event", e.At, e.Kind, e.Text})
		}
	case r.Finding != nil:
		f := r.Finding
		out = append(out, struct {
			Type   string          `json:"type"`
			Time   time.Time       `json:"time"`
			State  string          `json:"state"`
			Cause  string          `json:"cause,omitempty"`
			Line   string          `json:"line,omitempty"`
			Detail json.RawMessage `json:"detail,omitempty"`
		}{"finding", f.At, f.State, f.Cause, f.Line, f.Detail})
	case r.Mark != nil:
		out = append(out, struct {
			Type string    `json:"type"`
			Time time.Time `json:"time"`
			Text string    `json:"text"`
		}{"mark", r.Mark.At, r.Mark.Text})
	case r.Gap != nil:
		out = append(out, struct {
			Type string `json:"type"`
			*record.Gap
		}{"gap", r.Gap})
	case r.Lost > 0:
		out = append(out, struct {
			Type    string `json:"type"`
			Samples int    `json:"samples"`
		}{"lost", r.Lost})
	}
	return out
}

// valuesJSON is an object whose members keep their order.
type valuesJSON struct {
	names  []string
	values []probes.Opt[float64]
}

func (o *Options) values(r row) valuesJSON {
	var v valuesJSON
	for _, s := range o.Signals {
		v.names = append(v.names, s.Name)
		v.values = append(v.values, r.tick.Signals.Get(s.Name))
	}
	return v
}

func (v valuesJSON) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range v.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
		if x, ok := v.values[i].Get(); ok {
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		} else {
			b = append(b, "null"...)
		}
	}
	return append(b, '}'), nil
}

// rawPage is a page of an engine, as exposed. Numbers that JSON does not have are texts: "NaN", "+Inf".
type rawPage struct {
	Time     time.Time   `json:"time"`
	Endpoint string      `json:"endpoint"`
	Series   []rawSeries `json:"series"`
}

type rawSeries struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Value  any               `json:"value"`
}

// pages are those that were read since the sample before.
func (o *Options) pages(s, last *probes.Sample) (out []rawPage) {
	for _, p := range s.Scrapes {
		if !o.Raw || p == nil || p.Schema == nil || !renewed(p, last) {
			continue
		}
		page := rawPage{Time: p.At, Endpoint: p.Endpoint}
		for i := range min(len(p.Values), len(p.Schema.Series)) {
			page.Series = append(page.Series, rawOf(&p.Schema.Series[i], p.Values[i]))
		}
		out = append(out, page)
	}
	return out
}

// renewed reports that a page was not in the sample before already. Behind a gap the same
// page is another value; its time tells.
func renewed(p *probes.Scrape, last *probes.Sample) bool {
	return last == nil || !slices.ContainsFunc(last.Scrapes, func(o *probes.Scrape) bool {
		return o == p || o != nil && o.Endpoint == p.Endpoint && o.At.Equal(p.At)
	})
}

func rawOf(s *probes.Series, v float64) rawSeries {
	r := rawSeries{Name: s.Name, Value: v}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		r.Value = strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, l := range s.Labels {
		if r.Labels == nil {
			r.Labels = map[string]string{}
		}
		r.Labels[l.Name] = l.Value
	}
	return r
}
