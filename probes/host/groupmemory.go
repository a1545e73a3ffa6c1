package host

import (
	"bytes"
	"strconv"

	"llmtop/probes"
)

const (
	memoryEvery = 4       // passes: the kernel adds up over all cores for these
	unlimited   = 1 << 60 // version 1 writes a huge number for no limit
)

// memoryGroup is the memory side of one cgroup.
type memoryGroup struct {
	dir      string
	own      bool    // a member's memory is counted here first
	limit    float64 // bytes, 0 when there is none
	used     float64
	kills    float64
	hasKills bool
	known    bool
}

func (g *groups) findMemory(c cgroups, known map[string]*memoryGroup) {
	own := true
	for _, dir := range c.dirs("memory") {
		if !exists(dir+"/memory.stat") || !exists(dir+"/memory.max") && !exists(dir+"/memory.limit_in_bytes") {
			continue // such as the root of version 2
		}
		group := known[dir]
		if group == nil {
			group = &memoryGroup{dir: dir}
			known[dir] = group
		}
		listed := false
		for _, m := range g.memoryList {
			listed = listed || m == group
		}
		if !listed {
			g.memoryList = append(g.memoryList, group)
		}
		group.own, own = group.own || own, false
	}
}

// memory fills in the limit that is nearest to being reached, and the kills in the
// groups that members are in.
func (g *groups) memory(p *pass, s *probes.Process) {
	s.MemoryLimitBytes, s.MemoryLimitUsedBytes, s.CgroupOOMKillsTotal = g.none, g.none, g.none
	fullest, counted := (*memoryGroup)(nil), false
	for _, m := range g.memoryList {
		if !m.known || p.number%memoryEvery == 0 {
			m.read(p)
		}
		if m.own { // in the same moment in which the host counts them
			g.oomKills += m.newKills(p)
		}
		m.known = true
		counted = counted || m.own && m.hasKills
		if m.limit > 0 && (fullest == nil || m.used/m.limit > fullest.used/fullest.limit) {
			fullest = m
		}
	}
	if fullest != nil {
		s.MemoryLimitBytes, s.MemoryLimitUsedBytes = probes.Some(fullest.limit), probes.Some(fullest.used)
	}
	if counted {
		s.CgroupOOMKillsTotal = probes.Some(g.oomKills)
	}
}

// read reads limit and use.
func (m *memoryGroup) read(p *pass) {
	m.limit = 0
	for _, file := range []string{"memory.max", "memory.high", "memory.limit_in_bytes"} { // beyond high the kernel makes them wait
		if v, ok := m.number(p, file); ok && v < unlimited && (m.limit == 0 || v < m.limit) {
			m.limit = v
		}
	}
	if m.limit > 0 {
		m.used = m.use(p)
	}
}

// newKills are the processes killed since it was last read.
func (m *memoryGroup) newKills(p *pass) (kills float64) {
	now, ok := m.killed(p)
	if ok && (m.hasKills || p.number == 1) {
		kills = max(0, now-m.kills)
	}
	if m.hasKills = ok; ok {
		m.kills = now
	}
	return kills
}

// use is what cannot be had back easily: without the page cache that was not used lately.
func (m *memoryGroup) use(p *pass) float64 {
	used, ok := m.number(p, "memory.current")
	cache := "inactive_file"
	if !ok {
		used, _ = m.number(p, "memory.usage_in_bytes")
		cache = "total_inactive_file"
	}
	if text, err := p.files.whole(m.dir + "/memory.stat"); err == nil {
		if v, ok := value(text, cache); ok {
			used = max(0, used-v)
		}
	}
	return used
}

// killed is how many processes were killed in the group for want of memory.
func (m *memoryGroup) killed(p *pass) (float64, bool) {
	for _, file := range []string{"memory.events", "memory.oom_control"} {
		if text, err := p.files.whole(m.dir + "/" + file); err == nil {
			return value(text, "oom_kill")
		}
	}
	return 0, false
}

// number reads a file that holds one; false for "max".
func (m *memoryGroup) number(p *pass, file string) (float64, bool) {
	text, err := p.files.whole(m.dir + "/" + file)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	return v, err == nil && v > 0
}
