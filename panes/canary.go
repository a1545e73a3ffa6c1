package panes

import (
	"fmt"
	"time"

	"llmtop/probes"
)

// canaryRows is one line about llmtop's own requests: of several engines' the one that
// fared worst. No canaries, no line.
func canaryRows(v *view, w int) []row {
	c := worstCanary(v.tick.Point.Canaries)
	if c == nil {
		return nil
	}
	age, isOld := canaryAge(v, c)
	t := plain
	if isOld {
		t = old
	}
	r := row{}.add(plain, " ").add(strong, "canary")
	if len(v.tick.Point.Canaries) > 1 {
		r = r.add(faint, " "+probeName("of "+c.Endpoint))
	}
	if c.Err != "" {
		why := bad
		if t == old {
			why = old
		}
		return []row{r.add(why, " "+canaryCount(c)+": ").add(t, firstLine(c.Err, ""))}
	}
	for i, words := range canaryWords {
		if line := canaryLine(v, c, t, r, words); line.width() <= w || i == len(canaryWords)-1 {
			r = line
			break
		}
	}
	if isOld {
		r = r.add(old, "  "+ago(age)+" old")
	}
	return []row{r}
}

// canaryWords are those of the line, shorter where it would not fit: what failed stands at
// its end and has to be seen.
var canaryWords = [...]struct{ server, tokens string }{
	{"server p50", "%s tokens in %s"}, {"server", "%s tokens in %s"}, {"server", "%s in %s"},
}

// canaryLine goes on with the times and counts of a canary that was answered.
func canaryLine(v *view, c *probes.Canary, t tone, begun row, words struct{ server, tokens string }) row {
	r := begun[:len(begun):len(begun)].add(faint, " TTFT ").add(t, show(c.TTFTSeconds, seconds))
	if server, ok := v.sig("ttft.p50").Get(); ok {
		r = r.add(faint, " ("+words.server+" "+seconds(server)+")")
	}
	r = r.add(faint, "  ITL ").add(t, show(c.ITLSeconds, seconds)).add(plain, "  ")
	r = r.add(buffered(v, t), fmt.Sprintf(words.tokens, show(c.Tokens, count), plural(c.Chunks, "read")))
	failed := t
	if c.Failed.Or(0) > 0 {
		failed = warn
	}
	return r.add(plain, "  ").add(failed, canaryCount(c))
}

// buffered is the tone of tokens of which many came at once; canary.buffered knows when
// that says something.
func buffered(v *view, t tone) tone {
	if t != old && v.sig("canary.buffered").Or(0) >= 4 {
		return warn
	}
	return t
}

func canaryCount(c *probes.Canary) string {
	failed := "failed " + show(c.Failed, count)
	if sent, ok := c.Sent.Get(); ok && c.Failed.Or(0) > 0 {
		failed += " of " + count(sent)
	}
	return failed
}

func plural(n probes.Opt[float64], what string) string {
	if n.Or(0) != 1 {
		what += "s"
	}
	return show(n, count) + " " + what
}

// worstCanary is the one that failed last, else the one that waited longest for its token.
func worstCanary(all []*probes.Canary) *probes.Canary {
	var worst *probes.Canary
	for _, c := range all {
		if worst == nil || rank(c) > rank(worst) || rank(c) == rank(worst) && c.At.After(worst.At) {
			worst = c
		}
	}
	return worst
}

func rank(c *probes.Canary) float64 {
	if c.Err != "" {
		return time.Hour.Seconds() // no canary waits that long
	}
	return c.TTFTSeconds.Or(0)
}

// canaryAge is how old a canary is, and whether three of its paces have passed since.
func canaryAge(v *view, c *probes.Canary) (age time.Duration, isOld bool) {
	every := 0.0
	for _, p := range v.tick.Point.Probes {
		if p.Name == "canary "+c.Endpoint {
			every = p.EverySeconds
		}
	}
	age = v.at.Sub(c.At)
	return age, age > v.staleAfter(every)
}
