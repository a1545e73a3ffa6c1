package drill

import (
	"math"
	"strconv"
	"strings"
)

// placeholder stands for the strength in texts.
const placeholder = "{x}"

// geometric tells dials on which equal factors are equal steps: those that have no zero.
func (d *Dial) geometric() bool { return d.From > 0 && d.To > 0 }

// place is where a strength lies on the dial: 0 at From, 1 at To.
func (d *Dial) place(x float64) float64 {
	if d.geometric() {
		if x <= 0 {
			return math.Copysign(math.Inf(1), d.From-d.To)
		}
		return math.Log(x/d.From) / math.Log(d.To/d.From)
	}
	return (x - d.From) / (d.To - d.From)
}

// at is the strength at a place, as it is written.
func (d *Dial) at(place float64) float64 {
	place = min(1, max(0, place))
	if d.geometric() {
		return d.round(d.From * math.Pow(d.To/d.From, place))
	}
	return d.round(d.From + (d.To-d.From)*place)
}

// round leaves four digits, or whole numbers.
func (d *Dial) round(x float64) float64 {
	if d.Whole {
		return math.Round(x)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil || short < min(d.From, d.To) || short > max(d.From, d.To) {
		return x
	}
	return short
}

// filled is a text with the strength in it; without a dial there is no place for it.
func filled(text string, d *Dial, x float64) string {
	if d == nil {
		return text
	}
	return strings.ReplaceAll(text, placeholder, strconv.FormatFloat(x, 'f', -1, 64))
}
