package panes

import (
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// engineSheets are what each engine tells, how it is set up, and how each reading was
// obtained, so that nobody has to believe a number blindly.
func engineSheets(v *view, w int) []row {
	var rows []row
	for _, e := range v.tick.Point.Engines {
		rows = append(rows, sheetOf(v, w, e)...)
	}
	if len(rows) == 0 {
		rows = []row{row{}.add(plain, " No engine answers.")}
	}
	return rows
}

// sheetOf is one engine: its heading, settings, what waits, the readings, what it lacks.
func sheetOf(v *view, w int, e *probes.Engine) []row {
	c := configOf(v, e.Endpoint)
	rows := []row{row{}.add(strong, " "+sheetTitle(e, c))}
	text := func(label, text string) { rows = append(rows, labelled(w, label, text)...) }
	text("settings", settingsText(c))
	text("processes", ranksText(c))
	text("waiting", waitsText(e.Waits))
	var lacks []string
	for _, r := range probes.EngineReadings {
		value, told := readingText(&r, e)
		if !told {
			lacks = append(lacks, r.Name)
			continue
		}
		t := faint
		if e.Origin(r.Name) != probes.Exact {
			t = warn
		}
		origin := e.Origin(r.Name).String()
		if w < 60 { // a line for the name and the origin, one for the value
			rows = append(rows, ends(w, row{}.add(plain, " "+cut(r.Name, w-14)), row{}.add(t, origin+" ")), row{}.add(strong, "   "+value))
			continue
		}
		rows = append(rows, row{}.add(plain, " ").left(plain, 30, r.Name).left(strong, max(18, min(44, w-44)), value).add(t, origin))
	}
	text("not exposed", strings.Join(lacks, ", "))
	for _, p := range e.Parts {
		rows = append(rows, partRow(p))
	}
	return append(rows, row{})
}

func partRow(e *probes.Engine) row {
	return row{}.add(plain, "   ").left(strong, 14, "engine "+clean(e.Instance)).
		add(faint, "running").right(plain, 6, show(e.Running, count)).
		add(faint, "  waiting").right(plain, 6, show(e.Waiting, count)).
		add(faint, "  KV").right(plain, 6, show(e.KVUsage, percent)).
		add(faint, "  finished").right(plain, 8, show(e.Finished, count))
}

func sheetTitle(e *probes.Engine, c *probes.EngineConfig) string {
	parts := []string{clean(e.Endpoint), clean(e.Dialect)}
	if c != nil && c.Version != "" {
		parts[1] += " " + clean(c.Version)
	}
	for _, more := range []string{clean(e.Model), string(e.Role)} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	if c != nil && c.PID > 0 {
		parts = append(parts, fmt.Sprintf("pid %d", c.PID))
	}
	if e.AtFinish {
		parts = append(parts, "counts tokens when a request ends")
	}
	return strings.Join(parts, " · ")
}

// readingText is a number as it stands now, a histogram since the engine started.
func readingText(r *probes.EngineReading, e *probes.Engine) (text string, told bool) {
	if r.Number != nil {
		value, ok := r.Number(e).Get()
		if !ok {
			return "", false
		}
		if r.Name == "start_unix_seconds" {
			return clock(time.UnixMilli(int64(value * 1e3))), true
		}
		return amount(value, r.Unit), true
	}
	h := *r.Histogram(e)
	if h == nil {
		return "", false
	}
	text = count(h.Count) + " times"
	if mean, ok := h.Mean().Get(); ok {
		text += ", mean " + amount(mean, r.Unit)
	}
	if len(h.Bounds) == 0 {
		return text, true
	}
	if q, low, high := h.Quantile(0.95); q.Seen() {
		text += ", p95 " + bucketed(rules.Bucket{Low: low, High: high}, q.Or(0), func(x float64) string { return amount(x, r.Unit) })
	}
	return text, true
}

// configOf is how the engine at an endpoint is set up, nil when that is not known.
func configOf(v *view, endpoint string) *probes.EngineConfig {
	for _, c := range v.tick.Point.Configs {
		if c.Endpoint == endpoint {
			return c
		}
	}
	return nil
}

func settingsText(c *probes.EngineConfig) string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, f := range c.Facts {
		parts = append(parts, clean(f.Name)+" "+clean(f.Value))
	}
	return strings.Join(parts, " · ")
}

func ranksText(c *probes.EngineConfig) string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, r := range c.Ranks {
		parts = append(parts, fmt.Sprintf("%s %d", clean(r.Name), r.PID))
	}
	return strings.Join(parts, " · ")
}
