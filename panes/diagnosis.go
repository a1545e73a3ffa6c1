package panes

import (
	"fmt"
	"strings"

	"llmtop/rules"
)

// diagnosisRows is the whole diagnosis at a width, the most telling first: where
// the added time went, each cause with its evidence, the next steps, what was
// ruled out and what could not be seen; risks, notes and symptoms last. What does
// not fit room lines is scrolled; then the first step to take stands higher.
func diagnosisRows(v *view, w, room int) []row {
	rows := diagnosisOrdered(v, w, false)
	if len(rows) > room {
		rows = diagnosisOrdered(v, w, true)
	}
	return rows
}

// diagnosisTitle says of causes that they are from before the engine fell silent.
func diagnosisTitle(v *view) string {
	if d := &v.tick.Diagnosis; d.State == rules.Unmeasurable && len(d.Causes) > 0 {
		return "diagnosis before it fell silent"
	}
	return "diagnosis"
}

// noSymptom never says that all is well beside a risk.
func noSymptom(d *rules.Diagnosis) string {
	if len(d.Risks) > 0 {
		return " No symptom yet."
	}
	return " No symptom. Nothing to do."
}

func diagnosisOrdered(v *view, w int, tight bool) []row {
	d := &v.tick.Diagnosis
	var rows []row
	switch {
	case len(d.Causes) == 0 && d.Reason != "":
		rows = append(rows, wrapped(plain, " ", d.Reason, w)...)
	case d.State == rules.Healthy:
		rows = append(rows, row{}.add(plain, noSymptom(d)))
	}
	split := attributionRows(d, w)
	later := 0
	if tight {
		later = max(0, len(split)-1)
	}
	rows = append(rows, split[:len(split)-later]...)
	for i := range d.Causes {
		rows = append(rows, causeRows(i, &d.Causes[i], w, tight)...)
	}
	if len(d.Causes) == 0 && d.State == rules.Unknown {
		rows = append(rows, wrapped(plain, " ", "Look at what changed at "+onsetText(d)+": load, prompts, settings, neighbours.", w)...)
	}
	for _, f := range d.Risks {
		rows = append(rows, wrapped(warn, " ⚠ risk: ", f.Text, w)...)
	}
	for _, f := range d.Notes {
		rows = append(rows, wrapped(faint, " · note: ", f.Text, w)...)
	}
	rows = append(rows, split[len(split)-later:]...)
	for _, s := range d.Symptoms {
		rows = append(rows, row{}.add(faint, " symptom: ").add(plain, signalLabel(s.Signal)+" "+change(s.From, s.To, s.Unit)))
	}
	if d.Baseline != "" {
		rows = append(rows, wrapped(faint, " baseline: ", d.Baseline, w)...)
	}
	return rows
}

// adviceRows is the diagnosis for very little room: what to do, then the proof.
func adviceRows(v *view, w int) []row {
	causes := v.tick.Diagnosis.Causes
	if len(causes) == 0 {
		return diagnosisRows(v, w, 1)
	}
	var rows []row
	for _, n := range causes[0].Next[:min(1, len(causes[0].Next))] {
		rows = append(rows, nextRows(&n, w)...)
	}
	for _, e := range causes[0].Evidence {
		rows = append(rows, evidenceRows(good, " ✓ ", &e, w)...)
	}
	return rows
}

func onsetText(d *rules.Diagnosis) string {
	if len(d.Symptoms) > 0 && !d.Symptoms[0].Since.IsZero() {
		return clock(d.Symptoms[0].Since)
	}
	return "the onset"
}

// wrapped sets text behind a lead; following lines are indented as far.
func wrapped(t tone, lead, text string, w int) []row {
	indent := width(lead)
	var rows []row
	for i, line := range wrap(text, max(12, w-indent)) {
		if i == 0 {
			rows = append(rows, row{}.add(t, lead).add(plain, line))
		} else {
			rows = append(rows, row{}.add(plain, spaces(indent)+line))
		}
	}
	return rows
}

// attributionRows are one bar for each latency that grew: where the added time went.
func attributionRows(d *rules.Diagnosis, w int) []row {
	var rows []row
	for _, of := range [...]string{"ttft", "tpot", "e2e"} {
		var parts []part
		total := 0.0
		for _, a := range d.Attribution {
			if a.Of != of {
				continue
			}
			p := drawn[a.Stage]
			if p.sign == 0 {
				p.sign, p.tone = '░', inOther
			}
			p.name, p.share = clean(a.Stage), min(a.Share, 1) // beyond 1: another part got faster
			parts, total = append(parts, p), total+a.DeltaSeconds
		}
		if len(parts) == 0 {
			continue
		}
		cells := max(8, w/4)
		label := fmt.Sprintf(" %-4s %s ", strings.ToUpper(of), signed(total))
		r := row{}.left(strong, 15, label)
		r = append(r, stacked(parts, cells)...)
		rows = append(rows, append(r, legend(parts, w-r.width())...))
	}
	return rows
}

func signed(s float64) string {
	if s < 0 {
		return "−" + seconds(-s)
	}
	return "+" + seconds(s)
}

// causeRows is one cause in full. When it is tight, two proofs and the first step
// come before the other proofs and steps.
func causeRows(i int, c *rules.Cause, w int, tight bool) []row {
	rows := causeHead(i, c, w)
	proofs, steps := len(c.Evidence), len(c.Next)
	if tight {
		proofs, steps = min(2, proofs), min(1, steps)
	}
	prove := func(evidence []rules.Evidence) {
		for _, e := range evidence {
			rows = append(rows, evidenceRows(good, "   ✓ ", &e, w)...)
		}
	}
	advise := func(next []rules.Next) {
		for _, n := range next {
			rows = append(rows, nextRows(&n, w)...)
		}
	}
	prove(c.Evidence[:proofs])
	advise(c.Next[:steps])
	prove(c.Evidence[proofs:])
	advise(c.Next[steps:])
	for _, e := range c.Against {
		if e.Holds {
			rows = append(rows, evidenceRows(warn, "   ! ", &e, w)...)
		} else {
			rows = append(rows, evidenceRows(faint, "   ✗ ", &e, w)...)
		}
	}
	for _, u := range c.Unseen {
		rows = append(rows, wrapped(warn, "   ? unseen: ", u, w)...)
	}
	if len(c.Effects) > 0 {
		rows = append(rows, wrapped(faint, "   explains: ", strings.Join(c.Effects, ", "), w)...)
	}
	return rows
}

// causeHead names the cause, how sure it is and since when; its title stands on
// the same line when there is room, else on the next.
func causeHead(i int, c *rules.Cause, w int) []row {
	t := bad
	if i > 0 {
		t = strong
	}
	head := row{}.add(t, fmt.Sprintf(" %d %s", i+1, clean(c.ID)))
	sure := row{}.add(plain, "  "+clean(c.Confidence)+" confidence")
	if c.Limit {
		sure = sure.add(warn, ", hardware limit")
	}
	if !c.Since.IsZero() {
		sure = sure.add(faint, ", since "+clock(c.Since))
	}
	title := row{}.add(plain, "  "+clean(c.Title))
	if head.width()+title.width()+sure.width() < w {
		return []row{ends(w, append(head, title...), sure.add(plain, " "))}
	}
	return append([]row{append(head, sure...)}, wrapped(plain, "   ", c.Title, w)...)
}

// evidenceRows is what a clause says; its values follow where the words hold no number.
func evidenceRows(t tone, lead string, e *rules.Evidence, w int) []row {
	says := e.Says
	if says == "" {
		says = e.Clause
	}
	rows := wrapped(t, lead, says, w)
	if len(rows) == 0 {
		return nil
	}
	last := rows[len(rows)-1]
	if room := w - last.width() - 3; room >= 12 && !strings.ContainsAny(says, "0123456789") {
		rows[len(rows)-1] = last.add(faint, "  "+cut(valuesText(e.Values), room))
	}
	return rows
}

// valuesText lists the numbers a clause was evaluated on: queue.depth 41 (normal 2).
func valuesText(values []rules.Value) string {
	var parts []string
	for _, value := range values {
		text := clean(value.Signal) + " " + amount(value.Value, value.Unit)
		if value.Baseline != nil {
			text += " (normal " + amount(*value.Baseline, value.Unit) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// costWords are the cost classes.
var costWords = [...]string{1: "cheap", 2: "medium", 3: "expensive"}

// nextRows is a step, its price and the command to type.
func nextRows(n *rules.Next, w int) []row {
	text := n.Step
	cost := ""
	if n.CostClass > 0 && n.CostClass < len(costWords) {
		cost = costWords[n.CostClass]
	}
	if price := strings.Trim(cost+": "+n.Price, ": "); price != "" {
		text += " [" + price + "]"
	}
	lead := "   → "
	if w < 60 {
		lead = " → "
	}
	rows := wrapped(strong, lead, text, w)
	if n.Command != "" {
		rows = append(rows, row{}.add(faint, "       ").add(strong, clean(n.Command)))
	}
	return rows
}

// scrolled is a heading and the part of rows that room lets be seen, from
// v.scroll on; the heading says which lines these are, or what hint says.
func scrolled(v *view, w int, title, hint string, rows []row, room int) []row {
	room = max(room, 0)
	start := min(v.scroll, max(0, len(rows)-room))
	v.scroll = start // so that the next key counts from what is seen
	note := hint
	if below := len(rows) - start - room; below > 0 || start > 0 {
		note = fmt.Sprintf("lines %d–%d of %d ↑↓", start+1, min(len(rows), start+room), len(rows))
	}
	shown := rows[start:min(len(rows), start+room)]
	return append([]row{rule(w, title, note)}, shown...)
}
