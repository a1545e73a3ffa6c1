package truth

import (
	"strconv"
	"strings"

	"llmtop/probes"
)

// turnTakers counts the members that look like threads taking turns on one lock: 0.85 to 1.1
// cores in all, none of their threads more than 0.9 and at least two of them 0.1 or more where
// threads are told, and 100 voluntary switches a second or more.
func turnTakers(v view) (count float64, ok bool) {
	was, seconds := v.processBefore()
	if was == nil {
		return 0, false
	}
	is := v.now().Process
	for i := range is.Members {
		m := &is.Members[i]
		then := memberOf(was, m.PID)
		if then == nil {
			continue
		}
		ran, ok1 := grew(then.CPUSecondsTotal, m.CPUSecondsTotal)
		gaveUp, ok2 := grew(then.VoluntarySwitchesTotal, m.VoluntarySwitchesTotal)
		if !ok1 || !ok2 {
			continue
		}
		ok = true
		cores, switches := ran/seconds, gaveUp/seconds
		if cores >= 0.85 && cores <= 1.1 && switches >= 100 && m.Threads.Or(2) >= 2 && sharedByThreads(was, is, m.PID, seconds) {
			count++
		}
	}
	return count, ok
}

func sharedByThreads(was, is *probes.Process, pid int, seconds float64) bool {
	told, part := 0, 0
	for _, t := range is.BusyThreads {
		for _, o := range was.BusyThreads {
			if t.PID != pid || o.TID != t.TID {
				continue
			}
			ran, ok := grew(o.CPUSecondsTotal, t.CPUSecondsTotal)
			if !ok {
				continue
			}
			if ran/seconds > 0.9 {
				return false
			}
			told++
			if ran/seconds >= 0.1 {
				part++
			}
		}
	}
	return told == 0 || part >= 2
}

func memberOf(p *probes.Process, pid int) *probes.Member {
	for i := range p.Members {
		if p.Members[i].PID == pid {
			return &p.Members[i]
		}
	}
	return nil
}

// remoteCores is, of the cores that a member with memory of a device may run on, the share
// that is not near to that device; the worst member.
func remoteCores(v view) (worst float64, ok bool) {
	p, d := v.now().Process, v.look()
	if p == nil || !v.stands(p.At) || !d.joined {
		return 0, false
	}
	for i := range v.now().GPU.Processes {
		user := &v.now().GPU.Processes[i]
		m := memberOf(p, user.PID)
		if m == nil {
			continue
		}
		may, near := cores(m.AllowedCPUs), cores(v.nearTo(d, user.GPU))
		if len(may) == 0 || len(near) == 0 {
			continue
		}
		far := 0.0
		for c := range may {
			far += one(!near[c])
		}
		worst, ok = max(worst, far/float64(len(may))), true
	}
	return worst, ok
}

// nearTo are the cores near to a device: as it or the one it is a part of says, or those of
// its NUMA node.
func (v view) nearTo(d *devices, uuid string) string {
	for _, g := range d.list {
		if g.UUID != uuid {
			continue
		}
		if g.CPUs == "" && g.Parent != "" {
			return v.nearTo(d, g.Parent)
		}
		node, ok := g.NUMANode.Get()
		if g.CPUs != "" || !ok || v.now().Host == nil {
			return g.CPUs
		}
		for _, n := range v.now().Host.NUMANodes {
			if float64(n.Node) == node {
				return n.CPUs
			}
		}
	}
	return ""
}

// cores reads "0-31,64-95"; nil for what is no such list.
func cores(list string) map[int]bool {
	out := map[int]bool{}
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, err := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || a < 0 || b < a || b > 1<<20 {
			return nil
		}
		for ; a <= b; a++ {
			out[a] = true
		}
	}
	return out
}
