package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// reportWidth is the columns a report fits into.
const reportWidth = 80

// Report is the diagnosis as plain text, at most 80 columns: the verdict first,
// then symptoms, where the time went, causes with evidence for and against, and
// what to do with its price. It ends with a newline.
func Report(d Diagnosis) string {
	r := &report{}
	r.verdict(d)
	for _, s := range d.Symptoms {
		title := s.Signal
		if row, ok := Lookup(s.Signal); ok {
			title = row.Title
		}
		r.item("  ", title+" "+change(s.From, s.To, s.Unit)+since(s))
	}
	r.attribution(d.Attribution)
	for i, c := range d.Causes {
		r.cause(i+1, c)
	}
	for _, f := range d.Risks {
		r.item("risk: ", f.Text)
	}
	for _, f := range d.Notes {
		r.item("note: ", f.Text)
	}
	r.item("baseline: ", d.Baseline)
	return r.String()
}

func since(s Symptom) string {
	if s.Since.IsZero() {
		return ""
	}
	return ", since " + s.Since.UTC().Format("15:04:05")
}

type report struct{ strings.Builder }

// verdict is the first line: state, cause and its confidence, and the worst symptom.
func (r *report) verdict(d Diagnosis) {
	head := strings.ToUpper(string(d.State))
	switch {
	case len(d.Causes) > 0:
		head += fmt.Sprintf("  %s (%s)", d.Causes[0].ID, d.Causes[0].Confidence)
		if d.Causes[0].Limit {
			head += ", a limit of the hardware, not a fault"
		}
		if len(d.Symptoms) > 0 {
			head += "  " + headline(d)
		}
	case d.Reason != "":
		head += "  " + d.Reason
	}
	r.item("", head)
}

// headline is the symptom with the largest rise and the stage that holds most of it,
// or that it is ending; and how many are turned away.
func headline(d Diagnosis) string {
	s, _ := d.Worst()
	title, of := s.Signal, strings.SplitN(s.Signal, ".", 2)[0]
	if row, ok := Lookup(s.Signal); ok {
		title = row.Title
	}
	text := title + " " + Format(s.From, s.Unit) + " → " + Format(s.To, s.Unit)
	for _, a := range d.Attribution {
		if a.Of == of {
			text += ": " + Format(min(a.Share, 1), "ratio") + " " + a.Stage // beyond 1: another part got faster
			break
		}
	}
	if d.Ending() {
		text = d.Reason
	}
	if share, ok := d.Refused(); ok && s.Signal != "refused.share" {
		text += ", " + Format(share, "ratio") + " refused"
	}
	return text
}

func (r *report) attribution(all []Attribution) {
	byOf := map[string][]string{}
	total := map[string]float64{}
	var order []string
	for _, a := range all {
		if len(byOf[a.Of]) == 0 {
			order = append(order, a.Of)
		}
		total[a.Of] += a.DeltaSeconds
		if a.Share >= 0.01 || a.Share <= -0.01 {
			byOf[a.Of] = append(byOf[a.Of], Format(a.Share, "ratio")+" "+a.Stage)
		}
	}
	for _, of := range order {
		r.item("  ", fmt.Sprintf("added mean %s %s: %s", strings.ToUpper(of), Format(total[of], "s"), strings.Join(byOf[of], ", ")))
	}
}

func (r *report) cause(n int, c Cause) {
	r.item("", "")
	r.item(fmt.Sprintf("%d. ", n), fmt.Sprintf("%s: %s (%s, score %.2f)", c.ID, c.Title, c.Confidence, c.Score))
	for _, e := range c.Evidence {
		r.item("   + ", e.Says)
	}
	for _, e := range c.Against {
		r.item("   - ", e.Says)
	}
	for _, u := range c.Unseen {
		r.item("   ? ", u)
	}
	if len(c.Effects) > 0 {
		r.item("   explains ", strings.Join(c.Effects, ", "))
	}
	for _, s := range c.Next {
		r.item("   > ", fmt.Sprintf("%s (cost class %d; price: %s)", s.Step, s.CostClass, s.Price))
		if s.Command != "" {
			r.item("       ", s.Command)
		}
	}
}

// item writes text after a mark, wrapped at the report's width under its own first column.
func (r *report) item(mark, text string) {
	width := reportWidth - utf8.RuneCountInString(mark)
	hang := strings.Repeat(" ", utf8.RuneCountInString(mark))
	if mark == "" {
		hang = "    "
	}
	line := ""
	flush := func() {
		r.WriteString(strings.TrimRight(mark+line, " ") + "\n")
		mark, line = hang, ""
		width = reportWidth - utf8.RuneCountInString(hang)
	}
	for _, w := range words(text, reportWidth-utf8.RuneCountInString(hang)-4) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	flush()
}

// words splits text at spaces, and words longer than most by force. A number
// stays with its unit's line as far as spaces allow.
func words(text string, most int) []string {
	var out []string
	for _, w := range strings.Split(text, " ") {
		for utf8.RuneCountInString(w) > most {
			r := []rune(w)
			out, w = append(out, string(r[:most])), string(r[most:])
		}
		out = append(out, w)
	}
	return out
}
