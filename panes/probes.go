package panes

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"llmtop/probes"
)

// statusRow is the bottom line: a message when there is one, else how the probes
// do and what llmtop itself costs; the keys to remember at the right.
func statusRow(v *view, w int) row {
	right := row{}.add(faint, "? help  q quit ")
	if w < 50 {
		right = row{}.add(faint, "?  q ")
	}
	if v.Message != "" {
		return ends(w, row{}.add(invert, " "+firstLine(v.Message, "")+" ").add(plain, " "), right)
	}
	if v.tick == nil {
		return ends(w, row{}, right)
	}
	if chosen := stretchRow(v, w); chosen != nil {
		return ends(w, chosen, right)
	}
	left := probeSummary(v)
	if cost := selfCost(v); w >= 60 && left.width()+width(cost)+right.width()+12 <= w { // probes in trouble matter more
		right = append(row{}.add(faint, "llmtop "+cost+"   "), right...)
	}
	return ends(w, left, right)
}

// probeSummary names the probes in trouble and counts the others, but for those of what
// this engine does not have; the age of the oldest good reading is told when it is not
// of this moment.
func probeSummary(v *view) row {
	r := row{}.add(plain, " ")
	fine, oldest := 0, time.Duration(0)
	for _, p := range troubledFirst(v.tick.Point.Probes) {
		word, t := probeWord(v, &p)
		if lacks(&p) && t == faint {
			continue
		}
		if t == faint {
			fine++
			if !p.At.IsZero() {
				oldest = max(oldest, v.at.Sub(p.At))
			}
			continue
		}
		r = r.add(strong, probeName(p.Name)+" ").add(t, word).add(plain, "  ")
	}
	if fine == 0 {
		return r
	}
	text := fmt.Sprintf("%d probes ok", fine)
	if oldest >= 2*time.Second {
		text += ", oldest reading " + ago(oldest)
	}
	return r.add(faint, text+" ")
}

// troubledFirst lists failing and hung probes before the others, so that they
// are not the ones cut off; of those the metrics before what many engines do not have.
func troubledFirst(all []probes.ProbeStatus) []probes.ProbeStatus {
	var metrics, first, rest []probes.ProbeStatus
	for _, p := range all {
		switch trouble := p.Err != "" && !lacks(&p) || hung(&p); {
		case trouble && strings.HasPrefix(p.Name, "scrape"):
			metrics = append(metrics, p)
		case trouble:
			first = append(first, p)
		default:
			rest = append(rest, p)
		}
	}
	return append(append(metrics, first...), rest...)
}

// hung reports a read that has been out for longer than two of its intervals, or
// 2 s: the next read should have come and gone by then.
func hung(p *probes.ProbeStatus) bool {
	pending, ok := p.PendingSeconds.Get()
	return ok && pending > max(2*p.EverySeconds, 2)
}

// lacks reports something that there is not here: most engines have no times of single
// requests and no CPU profiles. That is no trouble. Older recordings say it in words.
func lacks(p *probes.ProbeStatus) bool {
	return p.Lacks || strings.Contains(p.Err, " not exposed by this engine")
}

// probeWord is a probe's state in a word or two.
func probeWord(v *view, p *probes.ProbeStatus) (string, tone) {
	age, isOld := time.Duration(0), false
	if !p.At.IsZero() {
		age = v.at.Sub(p.At)
		isOld = age > v.staleAfter(p.EverySeconds)
	}
	switch {
	case hung(p):
		return "hung " + ago(time.Duration(p.PendingSeconds.Or(0)*float64(time.Second))), bad
	case lacks(p):
		return missing, faint
	case p.Err != "":
		if isOld {
			return "error, " + ago(age) + " old", bad
		}
		return "error", bad
	case p.At.IsZero():
		return missing, faint
	case isOld:
		return ago(age) + " old", warn
	}
	return "ok", faint
}

func selfCost(v *view) string {
	cpu := show(v.sig("self.cpu"), func(cores float64) string { return digits(cores*100) + " %" })
	return cpu + " CPU " + show(v.sig("self.rss"), byteSize)
}

// probeRows is a line a probe (state, age, how long a read takes) and below it the
// error, in full where the width allows.
func probeRows(v *view, w int) []row {
	var rows []row
	for _, p := range troubledFirst(v.tick.Point.Probes) {
		word, t := probeWord(v, &p)
		age := missing
		if !p.At.IsZero() {
			age = ago(v.at.Sub(p.At))
		}
		r := row{}.add(plain, " ").left(strong, 17, cut(probeName(p.Name), 16)).left(t, 17, word).
			add(faint, "age").right(plain, 7, age).
			add(faint, "  took").right(plain, 8, show(p.LatencySeconds, seconds)).
			add(faint, "  every ").left(faint, 6, seconds(p.EverySeconds))
		rows = append(rows, r)
		if p.Err != "" {
			rows = append(rows, row{}.add(textTone(&p), "   "+withoutURL(clean(p.Err))))
		}
	}
	return rows
}

func textTone(p *probes.ProbeStatus) tone {
	if p.Lacks {
		return faint
	}
	return bad
}

// withoutURL drops the address that an error begins with: the name has its port.
func withoutURL(text string) string {
	if url, rest, ok := strings.Cut(text, ": "); ok && strings.Contains(url, "://") {
		return rest
	}
	return text
}

// probeName is the name with an endpoint cut down to its port: "scrape :8000".
func probeName(name string) string {
	what, endpoint, ok := strings.Cut(clean(name), " ")
	if endpoint == "search" { // for engines on this host
		return endpoint
	}
	if u, err := url.Parse(endpoint); ok && err == nil && u.Port() != "" {
		return what + " :" + u.Port()
	}
	return clean(name)
}
