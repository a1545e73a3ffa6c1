package panes

import (
	"strings"
	"time"

	"llmtop/rules"
)

// verdictRows is the line a tired person reads first: the state, the cause, the
// number that proves it and since when. At most most rows; what does not fit in
// them is left out from the end.
func verdictRows(v *view, w, most int) []row {
	word, wordTone := "WAITING", warnInvert
	facts := []string{firstLine(v.Waiting, "no sample yet")}
	if v.tick != nil {
		word, wordTone = stateWord(v.tick.Diagnosis.State)
		if d := &v.tick.Diagnosis; d.State == rules.Healthy && d.Reason != "" {
			word, wordTone = word+"?", warnInvert
		}
		facts = verdictFacts(v)
	}
	head := row{}.add(wordTone, " "+word+" ").add(plain, " ")
	return flow(head, facts, w, most)
}

func firstLine(s, otherwise string) string {
	line, _, _ := strings.Cut(s, "\n")
	if strings.TrimSpace(line) == "" {
		return otherwise
	}
	return line
}

func stateWord(s rules.State) (string, tone) {
	switch s {
	case rules.Healthy:
		return "HEALTHY", goodInvert // verdictRows says when that may not last
	case rules.Degraded:
		return "DEGRADED", badInvert
	case rules.Unknown:
		return "DEGRADED", badInvert
	case rules.Unmeasurable:
		return "UNMEASURABLE", warnInvert
	}
	return strings.ToUpper(clean(string(s))), warnInvert
}

// verdictFacts are the parts of the verdict, the most telling first.
func verdictFacts(v *view) []string {
	d := &v.tick.Diagnosis
	switch d.State {
	case rules.Degraded, rules.Unknown:
		return degradedFacts(v)
	case rules.Unmeasurable:
		return silentFacts(d)
	}
	var facts []string
	if d.Reason != "" { // the diagnosis has the rest
		what, _, _ := strings.Cut(d.Reason, ": ")
		facts = append(facts, what)
	}
	for _, name := range [...]string{"ttft.p95", "tpot.p95"} {
		if value, ok := v.sig(name).Get(); ok {
			facts = append(facts, signalLabel(name)+" "+seconds(value))
		}
	}
	if rate, ok := v.sig("requests.rate").Get(); ok {
		facts = append(facts, count(rate)+" requests/s")
	}
	if len(d.Risks) > 0 {
		facts = append(facts, "risk: "+d.Risks[0].Text)
	}
	if d.Baseline != "" {
		facts = append(facts, "baseline "+baselineKind(d.Baseline))
	}
	return facts
}

// silentFacts are why nothing can be told, without the address (the title has it), and
// what was named before.
func silentFacts(d *rules.Diagnosis) []string {
	var said []string
	for _, part := range strings.Split(firstLine(d.Reason, "nothing to judge by"), ": ") {
		if !strings.Contains(part, "://") {
			said = append(said, part)
		}
	}
	facts := []string{strings.Join(said, ": ")}
	if len(d.Causes) > 0 {
		facts = append(facts, "before: "+d.Causes[0].ID)
	}
	return facts
}

// baselineKind is what a baseline is made from; times and counts stand in the diagnosis.
func baselineKind(text string) string {
	if i := strings.IndexAny(text, "0123456789(:"); i > 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(strings.TrimSpace(text), " until")
}

func degradedFacts(v *view) []string {
	d := &v.tick.Diagnosis
	cause := "cause unknown: no rule fits"
	var since time.Time
	if len(d.Causes) > 0 && d.State != rules.Unknown {
		cause, since = d.Causes[0].ID, d.Causes[0].Since
		if d.Causes[0].Limit {
			cause += " (hardware limit)"
		}
	}
	facts := []string{cause}
	if s, ok := d.Worst(); ok {
		facts = append(facts, symptomFact(d, s))
		if share, ok := d.Refused(); ok && s.Signal != "refused.share" {
			facts = append(facts, percent(share)+" refused")
		}
		if since.IsZero() {
			since = s.Since
		}
	}
	if !since.IsZero() {
		facts = append(facts, "began "+ago(v.at.Sub(since))+" ago")
	}
	if len(d.Causes) > 1 && d.State != rules.Unknown {
		facts = append(facts, "also "+d.Causes[1].ID)
	}
	return facts
}

// symptomFact is what users feel in numbers, or that it is ending.
func symptomFact(d *rules.Diagnosis, s rules.Symptom) string {
	if d.Ending() {
		return firstLine(d.Reason, "ending")
	}
	fact := signalLabel(s.Signal) + " " + change(s.From, s.To, s.Unit)
	if share := mainPart(d, s.Signal); share != "" {
		fact += ", " + share
	}
	return fact
}

// mainPart is the stage with the largest part of what a symptom grew by.
func mainPart(d *rules.Diagnosis, signal string) string {
	of, _, _ := strings.Cut(signal, ".")
	var best *rules.Attribution
	for i := range d.Attribution {
		a := &d.Attribution[i]
		if a.Of == of && (best == nil || a.Share > best.Share) {
			best = a
		}
	}
	if best == nil || best.Share <= 0 {
		return ""
	}
	return percent(min(best.Share, 1)) + " " + best.Stage
}

// leastShown is how many cells of a fact say something.
const leastShown = 24

// flow sets facts behind head, separated by dots, in at most most rows of w
// cells. A fact that does not fit goes on the next row, broken at blanks if need
// be; what does not fit on the last row is cut, or left out when little of it would show.
func flow(head row, facts []string, w, most int) []row {
	rows, used := []row{head}, head.width()
	for i, fact := range facts {
		t, separator := plain, " · "
		if i == 0 {
			t, separator = strong, ""
		}
		if used == 1 {
			separator = ""
		}
		fact = strings.Join(strings.Fields(clean(fact)), " ")
		for fact != "" {
			room := w - used - width(separator)
			if i >= 2 && len(rows) == most && width(fact) > room && room < leastShown {
				return rows
			}
			text, rest := fact, ""
			if width(fact) > room && len(rows) < most {
				text, rest = breakAt(fact, room, used == 1)
			}
			if text != "" && room > 0 {
				rows[len(rows)-1] = rows[len(rows)-1].add(faint, separator).add(t, text)
				used += width(separator) + width(text)
			}
			if fact = rest; fact != "" {
				rows, used, separator = append(rows, row{}.add(plain, " ")), 1, ""
			}
		}
	}
	return rows
}

// breakAt splits text so that its first part has at most room cells. On a line
// that has text already it is not broken at all: it goes to the next line whole.
func breakAt(text string, room int, fresh bool) (first, rest string) {
	if !fresh {
		return "", text
	}
	lines := wrap(text, max(1, room))
	return lines[0], strings.Join(lines[1:], " ")
}
