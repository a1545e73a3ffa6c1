package host

import (
	"bytes"
	"path/filepath"

	"llmtop/probes"
)

// cores adds up how busy the cores were on which the most confined member may run.
type cores struct {
	path string
	busy map[int]float64 // seconds since boot, of each core that is online
	last map[int]float64
	sum  float64
}

func newCores(root string) cores { return cores{path: filepath.Join(root, "proc/stat")} }

// read fills in the cores and what they gained.
func (c *cores) read(p *pass, members []*member, s *probes.Process) {
	text, err := p.files.whole(c.path)
	if err == nil {
		c.last, c.busy = c.busy, coresBusy(text, c.last)
	}
	if err != nil || len(c.busy) == 0 {
		none := probes.None[float64](probes.NotExposed)
		if err != nil {
			none = probes.None[float64](why(err))
		}
		s.AllowedCPUs, s.AllowedBusySecondsTotal = none, none
		return
	}
	fewest := 0
	var allowed cpuSet
	for _, m := range members {
		if n := c.online(m.allowed); n > 0 && (fewest == 0 || n < fewest) {
			fewest, allowed = n, m.allowed
		}
	}
	if fewest == 0 {
		s.AllowedCPUs, s.AllowedBusySecondsTotal = probes.None[float64](probes.NotExposed), probes.None[float64](probes.NotExposed)
		return
	}
	for n := range allowed.all() {
		if before, known := c.last[n]; known {
			c.sum += max(0, c.busy[n]-before)
		}
	}
	s.AllowedCPUs, s.AllowedBusySecondsTotal = probes.Some(float64(fewest)), probes.Some(c.sum)
}

// online counts those that there are: a list may name cores that are off.
func (c *cores) online(set cpuSet) (n int) {
	for cpu := range set.all() {
		if _, there := c.busy[cpu]; there {
			n++
		}
	}
	return n
}

// coresBusy reads the lines of single cores in /proc/stat into a map: seconds as ticksOf
// has them.
func coresBusy(text []byte, into map[int]float64) map[int]float64 {
	if into == nil {
		into = map[int]float64{}
	}
	clear(into)
	var field [16][]byte
	for len(text) > 0 {
		var line []byte
		if line, text = nextLine(text); !bytes.HasPrefix(line, []byte("cpu")) {
			break
		}
		f := words(line, field[:0])
		t, ok := ticksOf(f)
		n, one := coreOf(f)
		if ok && one {
			into[n] = float64(t.busy) / userHZ
		}
	}
	return into
}
