package rules

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// comparedLines is how many signals the text of a comparison lists: with the rest it
// fits 40 lines.
const comparedLines = 26

// CompareReport is a comparison as plain text of at most 80 columns and about 40 lines:
// what was compared, where the difference in latency went, the signals that moved, the
// biggest movers first. It ends with a newline.
func CompareReport(c Comparison) string {
	r := &report{}
	r.side("1  ", c.Before)
	r.side("2  ", c.After)
	r.item("", "")
	for _, a := range c.Added {
		r.item("", c.AddedText(a))
	}
	if len(c.Added) > 0 {
		r.item("", "")
	}
	moved := c.Moved()
	fmt.Fprintf(r, "%-24s %12s  %12s  %14s\n", "signal", "1", "2", "change")
	for i := range min(moved, comparedLines) {
		x := &c.Changes[i]
		fmt.Fprintf(r, "%-24s %s  %s  %s\n", x.Signal, right(reading(x.Before, x.Unit), 12), right(reading(x.After, x.Unit), 12), right(x.Moves(), 14)+x.times())
	}
	if moved == 0 {
		r.item("", "nothing moved by more than its noise")
	}
	r.item("", "")
	r.item("", c.rest(min(moved, comparedLines)))
	return r.String()
}

// side is a stretch, and the verdict in it on a line of its own.
func (r *report) side(mark string, s Side) {
	r.item(mark, s.String())
	if v := s.VerdictText(); v != "" {
		r.item("   ", v)
	}
}

// String says which stretch it was.
func (s Side) String() string {
	const clock = "15:04:05"
	text := fmt.Sprintf("%s–%s UTC (%s, %d samples)", s.From.UTC().Format(clock), s.To.UTC().Format(clock), Format(s.To.Sub(s.From).Seconds(), "s"), s.Samples)
	if s.Name != "" {
		text = s.Name + "  " + text
	}
	return text
}

// VerdictText is the verdict that stood longest, and then the others with their share.
func (s Side) VerdictText() string {
	var said []string
	for i, v := range s.Verdicts {
		if i == 3 {
			break
		}
		text := string(v.State)
		if v.Cause != "" {
			text += " " + v.Cause
		}
		if len(s.Verdicts) > 1 {
			text += " " + Format(v.Share, "ratio")
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

// AddedText is "TTFT p50 +1.9 s, mean +1.2 s: 99 % queue, 1 % prefill": the median over
// time of what users felt, and the mean of the requests that ended, which can be split.
func (c *Comparison) AddedText(a Added) string {
	var said []string
	for _, p := range a.Parts {
		if math.Abs(p.Share) >= 0.01 {
			said = append(said, Format(p.Share, "ratio")+" "+p.Stage)
		}
	}
	text := strings.ToUpper(a.Of)
	if d := c.median(a.Of); d != nil {
		text += " p50 " + Signed(*d, "s") + ","
	}
	return text + " mean " + Signed(a.DeltaSeconds, "s") + ": " + strings.Join(said, ", ")
}

// Felt is by how much the median of a latency differs, of the mean where that is not known.
func (c *Comparison) Felt(a Added) float64 {
	if d := c.median(a.Of); d != nil && *d*a.DeltaSeconds > 0 {
		return *d
	}
	return a.DeltaSeconds
}

func (c *Comparison) median(of string) *float64 {
	for i := range c.Changes {
		if c.Changes[i].Signal == of+".p50" {
			return c.Changes[i].Difference
		}
	}
	return nil
}

// Moves is the difference with its sign, in points for a ratio; "only in 1", "only in 2"
// of a signal seen in one stretch only.
func (c *Change) Moves() string {
	switch {
	case c.Before == nil:
		return "only in 2"
	case c.After == nil:
		return "only in 1"
	case c.Unit == "ratio":
		return strings.TrimSuffix(Signed(*c.Difference, c.Unit), "%") + "points"
	}
	return Signed(*c.Difference, c.Unit)
}

// times is "  ×190"; empty of ratios, and where a factor says nothing.
func (c *Change) times() string {
	if t := c.Times(); t != "" {
		return "  " + t
	}
	return ""
}

// Times is the factor, "×190"; empty of a ratio, of what was or is nothing, and of less than a tenth.
func (c *Change) Times() string {
	switch {
	case c.Ratio == nil || c.Unit == "ratio" || math.Abs(*c.Ratio-1) < 0.1:
		return ""
	case *c.Ratio >= 999.5:
		return "×>999"
	case *c.Ratio < 0.005:
		return "×<0.01"
	}
	return "×" + plain(*c.Ratio)
}

// Signed is Format with a + before what is more.
func Signed(v float64, unit string) string {
	if v > 0 {
		return "+" + Format(v, unit)
	}
	return strings.Replace(Format(v, unit), "-", "−", 1)
}

func reading(v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	return Format(*v, unit)
}

// right sets text flush right in w columns.
func right(text string, w int) string {
	return strings.Repeat(" ", max(0, w-utf8.RuneCountInString(text))) + text
}

// rest says what the table leaves out.
func (c *Comparison) rest(shown int) string {
	var said []string
	moved := c.Moved()
	if more := moved - shown; more > 0 {
		said = append(said, fmt.Sprintf("%d more moved", more))
	}
	said = append(said, fmt.Sprintf("%d signals within their noise", len(c.Changes)-moved))
	if c.Unseen > 0 {
		said = append(said, fmt.Sprintf("%d not seen", c.Unseen))
	}
	return strings.Join(said, ", ")
}
