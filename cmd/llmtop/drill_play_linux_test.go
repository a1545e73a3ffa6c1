package main

import (
	"strings"
	"testing"
)

// TestPlayHidesTheCause plays a drill to its question: the screen shows the numbers and neither verdict
// nor cause, and what follows the answer tells all.
func TestPlayHidesTheCause(t *testing.T) {
	if raceEnabled {
		t.Skip("a simulation of one goroutine")
	}
	o := startOnTerminal(t, 160, 48, "drill", "play", "power-cap", "--seed", "1")
	o.waitFor(t, "HIDDEN")
	o.waitFor(t, "TTFT")
	o.tty.WriteString("n")
	o.tty.WriteString("q")
	o.waitFor(t, "What was it?")
	screen, _, _ := strings.Cut(o.text(), "What was it?")
	for _, secret := range []string{"power-cap", "DEGRADED", "HEALTHY", "power limit of"} {
		if strings.Contains(screen, secret) {
			t.Errorf("the screen shows %q", secret)
		}
	}
	o.tty.WriteString("power\r")
	o.waitFor(t, "power-brake, power-cap")
	o.tty.WriteString("power-c\r")
	o.waitFor(t, "RIGHT: power-cap")
	o.waitFor(t, "Somebody lowers the power limit")
	o.waitFor(t, "llmtop said, counted from the onset")
	o.waitFor(t, "and at the end:")
	if code := o.waitEnd(t); code != 0 {
		t.Errorf("exit status %d\n%s", code, o.text())
	}
}
