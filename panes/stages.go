package panes

import (
	"sort"
	"time"

	"llmtop/probes"
)

// drawn are the stages with a sign and tone of their own; every other stage is
// part of "other", unless it is the largest of them.
var drawn = map[string]part{
	"tokenize": {sign: '▚', tone: inTokenize},
	"queue":    {sign: '▓', tone: inQueue},
	"prefill":  {sign: '▒', tone: inPrefill},
	"decode":   {sign: '█', tone: inDecode},
}

const ttftStages = int(probes.StagePrefill) + 1 // the stages up to the first token

// frontend stands for everything before the queue where an engine does not tell
// the stages apart.
const frontend = "frontend"

// stageRows are two stacked bars: where the time to the first token goes, and the
// time of the whole request.
func stageRows(v *view, w int) []row {
	at := v.engineAt()
	names := probes.StageNames[:]
	return []row{
		stageRow(v, w, "TTFT", stageShares(v, names[:ttftStages]), at),
		stageRow(v, w, "E2E", stageShares(v, names), at),
	}
}

// stageRowsSmall is the TTFT bar alone.
func stageRowsSmall(v *view, w int) []row {
	return []row{stageRow(v, w, "TTFT", stageShares(v, probes.StageNames[:ttftStages]), v.engineAt())}
}

func stageRow(v *view, w int, label string, parts []part, at time.Time) row {
	r := row{}.add(plain, " ").left(strong, 5, label)
	if len(parts) == 0 {
		return r.add(faint, missing+" "+noStages(v))
	}
	if _, isOld := v.age(at); isOld {
		for i := range parts {
			parts[i].tone = old
		}
	}
	cells := max(8, w/3)
	r = append(r, stacked(parts, cells)...)
	byShare := append([]part(nil), parts...)
	sort.SliceStable(byShare, func(i, j int) bool { return byShare[i].share > byShare[j].share })
	return append(r, legend(byShare, w-r.width())...)
}

func noStages(v *view) string {
	switch p := v.tick.Point; {
	case len(p.Engines) == 0 && len(p.Requests) == 0:
		return "no engine answers"
	case len(p.Requests) > 0:
		return "no request in the last seconds"
	}
	return "no stage times from this engine"
}

// stageShares are the parts of the bar, in the order a request meets them, of the
// mean seconds in the given stages. Nil when no stage is known.
func stageShares(v *view, names []string) []part {
	var parts []part
	total := 0.0
	for _, name := range append([]string{frontend}, names...) {
		if mean, ok := v.sig("stage." + name + ".mean").Get(); ok && mean > 0 {
			parts = append(parts, part{name: name, share: mean})
			total += mean
		}
	}
	if total <= 0 {
		return nil
	}
	for i := range parts {
		parts[i].share /= total
	}
	return merged(parts)
}

// merged keeps the drawn stages and the largest of the others by name; what is
// left becomes "other" at the end.
func merged(parts []part) []part {
	largest := ""
	var share float64
	for _, p := range parts {
		if _, own := drawn[p.name]; !own && p.share > share {
			largest, share = p.name, p.share
		}
	}
	var out []part
	rest := part{name: "other", sign: '░', tone: inOther}
	for _, p := range parts {
		look, own := drawn[p.name]
		switch {
		case own:
			p.sign, p.tone = look.sign, look.tone
		case p.name == largest && share >= 0.05:
			p.sign, p.tone = '▞', warn
		default:
			rest.share += p.share
			continue
		}
		out = append(out, p)
	}
	if rest.share > 0 {
		out = append(out, rest)
	}
	return out
}
