package probes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// EventEngineLog is a kind of line that tells of an incident and stood in an engine's log.
const EventEngineLog = "engine-log"

// LogIncidents are the kinds of lines that are news by themselves; the others count.
var LogIncidents = []string{"oom", "xid", "nccl", "engine-died", "kv-pool-full", "stalled", "cuda-error"}

// logPause is how long a kind is not told again: what comes again and again is told every
// ten seconds, with how often it came.
const logPause = 10 * time.Second

// logWatch knows what has been told of each log. It grows with the logs that are read.
type logWatch struct{ told map[string]toldLog }

// toldLog is how often a kind had come when it was last told.
type toldLog struct {
	total float64
	at    time.Duration // since the collection began
}

// events tells which incidents the logs of a sample newly hold.
func (w *logWatch) events(s *Sample) (events []Event) {
	if w.told == nil {
		w.told = map[string]toldLog{}
	}
	for _, l := range s.Logs {
		for i := range l.Counts {
			c := &l.Counts[i]
			if !slices.Contains(LogIncidents, c.Kind) {
				continue
			}
			if n := w.news(l.Source+"\n"+c.Kind, c.Total, s.Mono); n > 0 {
				events = append(events, Event{At: s.At, Kind: EventEngineLog, Text: logText(l.Source, c, n)})
			}
		}
	}
	return events
}

// news is how many lines are to be told of now.
func (w *logWatch) news(key string, total float64, now time.Duration) float64 {
	told, ever := w.told[key]
	if total < told.total { // counted anew
		told = toldLog{at: told.at}
	}
	if total == told.total || ever && now-told.at < logPause {
		if ever {
			w.told[key] = told
		}
		return 0
	}
	w.told[key] = toldLog{total, now}
	return total - told.total
}

// logText is made of the kind, how often it came, and the numbers of the last line.
func logText(source string, c *LogCount, n float64) string {
	text := fmt.Sprintf("%s ×%.0f in %s", c.Kind, n, strings.TrimPrefix(source, "file:"))
	for i, number := range c.Numbers {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		text += separator + number.text()
	}
	return Printable(text, 300)
}

// text is a number for people: "bytes 1.5 GiB", "kv usage 94 %".
func (n LogNumber) text() string {
	name := strings.ReplaceAll(n.Name, "_", " ")
	switch {
	case strings.HasSuffix(n.Name, "bytes"):
		const prefixes = "KMGTP"
		unit, x := "B", n.Value
		for i := 0; x >= 1024 && i < len(prefixes); i++ {
			unit, x = prefixes[i:i+1]+"iB", x/1024
		}
		return fmt.Sprintf("%s %.3g %s", strings.TrimSuffix(name, " bytes"), x, unit)
	case strings.HasSuffix(n.Name, "_ratio"):
		return fmt.Sprintf("%s %.0f %%", strings.TrimSuffix(name, " ratio"), 100*n.Value)
	case n.Value == math.Trunc(n.Value):
		return fmt.Sprintf("%s %.0f", name, n.Value)
	}
	return fmt.Sprintf("%s %.3g", name, n.Value)
}
