package panes

import (
	"math"
	"time"
)

// ends of the chosen stretches by their keys.
func (v *view) chosenEnds() []struct {
	key rune
	at  time.Time
} {
	return []struct {
		key rune
		at  time.Time
	}{{'A', v.Against.From}, {'B', v.Against.To}, {'a', v.Selected.From}, {'b', v.Selected.To}}
}

// withEnds writes the chosen ends into a bar that stands for the whole recording.
func withEnds(v *view, bar string) string {
	cells := []rune(bar)
	length := v.Position.End.Sub(v.Position.Start).Seconds()
	for _, e := range v.chosenEnds() {
		if e.at.IsZero() || length <= 0 {
			continue
		}
		share := math.Max(0, math.Min(1, e.at.Sub(v.Position.Start).Seconds()/length))
		if n := len(cells); n > 0 {
			cells[int(math.Round(share*float64(n-1)))] = e.key
		}
	}
	return string(cells)
}

// stretchRow says which stretches are chosen and what to press; nil with none. What is
// shown stands for an end that is not set yet.
func stretchRow(v *view, w int) row {
	one := stretchText("a", "b", v.Selected)
	two := stretchText("A", "B", v.Against)
	if one == "" && two == "" {
		return nil
	}
	r := row{}.add(strong, " "+one)
	if two != "" && (w >= 66 || one == "") {
		if one != "" {
			r = r.add(plain, " against ")
		}
		r = r.add(strong, two)
	} else if two != "" {
		return row{}.add(strong, " a–b against A–B").add(faint, "  c x")
	}
	if w < 66 || (two != "" && w < 100) {
		return r.add(faint, "  c x")
	}
	if v.Comparing != nil {
		return r.add(faint, "   c closes  x forgets")
	}
	return r.add(faint, "   c compares  x forgets")
}

func stretchText(from, to string, s Stretch) string {
	if s.From.IsZero() && s.To.IsZero() {
		return ""
	}
	text := func(key string, at time.Time) string {
		if at.IsZero() {
			return key + "?"
		}
		return key + " " + at.UTC().Format("15:04:05")
	}
	return text(from, s.From) + "–" + text(to, s.To)
}
