package host

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"

	"llmtop/probes"
)

// maxCPUs bounds the cores that are told apart.
const maxCPUs = 8192

// cpuList reads "0-3,8"; nil when it is none.
func cpuList(text string) (list []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b >= maxCPUs || len(list)+b-a >= maxCPUs {
			return nil
		}
		for n := a; n <= b; n++ {
			list = append(list, n)
		}
	}
	return list
}

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
	var allowed []int
	for _, m := range members {
		if n := c.online(m.allowed); n > 0 && (fewest == 0 || n < fewest) {
			fewest, allowed = n, m.allowed
		}
	}
	if fewest == 0 {
		s.AllowedCPUs, s.AllowedBusySecondsTotal = probes.None[float64](probes.NotExposed), probes.None[float64](probes.NotExposed)
		return
	}
	for _, n := range allowed {
		if before, known := c.last[n]; known {
			c.sum += max(0, c.busy[n]-before)
		}
	}
	s.AllowedCPUs, s.AllowedBusySecondsTotal = probes.Some(float64(fewest)), probes.Some(c.sum)
}

// online counts those that there are: a list may name cores that are off.
func (c *cores) online(list []int) (n int) {
	for _, cpu := range list {
		if _, there := c.busy[cpu]; there {
			n++
		}
	}
	return n
}

// coresBusy reads the lines of single cores in /proc/stat into a map: user, nice, system,
// interrupts and steal, as for the whole host; not idle and waiting for disks.
func coresBusy(text []byte, into map[int]float64) map[int]float64 {
	if into == nil {
		into = map[int]float64{}
	}
	clear(into)
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		name, rest, _ := bytes.Cut(line, []byte(" "))
		number, is := bytes.CutPrefix(name, []byte("cpu"))
		if !is {
			break
		}
		cpu, err := strconv.Atoi(string(number))
		if err != nil || len(into) >= maxCPUs { // the line of all
			continue
		}
		ticks := 0.0
		for i := range 8 {
			var word []byte
			word, rest, _ = bytes.Cut(rest, []byte(" "))
			if n, err := strconv.ParseFloat(string(word), 64); err == nil && i != 3 && i != 4 {
				ticks += n
			}
		}
		into[cpu] = ticks / userHZ
	}
	return into
}
