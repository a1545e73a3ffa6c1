package host

import (
	"slices"
	"strings"

	"llmtop/probes"
)

// maxGroups bounds the memberships that are looked at: members of one engine share one.
const maxGroups = 32

// groups are the cgroups of all members.
type groups struct {
	known []string // memberships by which what follows was found
	main  string   // that of the first engine's process

	cpuList   []*cpuGroup // innermost first, those of the first process before others
	paths     map[*cpuGroup]string
	innermost map[*cpuGroup]bool
	told      *cpuGroup
	sum       throttling

	memoryList []*memoryGroup
	oomKills   float64

	cpuPressure, memoryPressure kept
	none                        probes.Opt[float64] // what is missing where there is nothing
}

// read fills in limits, throttling, pressure and memory.
func (g *groups) read(p *pass, root string, members []*member, s *probes.Process) {
	g.none = probes.None[float64](probes.NotExposed)
	if err := members[0].cgroupErr; err != nil {
		g.none = probes.None[float64](why(err))
	}
	if known := memberships(members); !slices.Equal(known, g.known) || members[0].cgroup != g.main {
		g.find(p, root, members)
		g.known, g.main = known, members[0].cgroup
	}
	g.cpu(p, s)
	g.memory(p, s)
	s.CgroupPressure = g.pressure(p, &g.cpuPressure)
	s.CgroupMemoryPressure = g.pressure(p, &g.memoryPressure)
}

func (g *groups) pressure(p *pass, k *kept) probes.Pressure {
	if k.path == "" {
		return probes.Pressure{SomeSecondsTotal: g.none, FullSecondsTotal: g.none, SomeAvg10Ratio: g.none}
	}
	return pressureOf(p.files, k)
}

// memberships are the different ones, in the order of the members.
func memberships(members []*member) (list []string) {
	for _, m := range members {
		if m.cgroup != "" && !slices.Contains(list, m.cgroup) && len(list) < maxGroups {
			list = append(list, m.cgroup)
		}
	}
	return list
}

// find lists the groups, and keeps those that were known.
func (g *groups) find(p *pass, root string, members []*member) {
	cpu, memory := map[string]*cpuGroup{}, map[string]*memoryGroup{}
	for _, c := range g.cpuList {
		cpu[c.dir] = c
	}
	for _, m := range g.memoryList {
		memory[m.dir] = m
	}
	told := g.told
	g.close(p.files)
	g.cpuList, g.memoryList, g.told = nil, nil, nil
	g.paths, g.innermost = map[*cpuGroup]string{}, map[*cpuGroup]bool{}
	seen := map[string]bool{}
	for _, m := range members {
		if m.cgroup == "" || seen[m.cgroup] || len(seen) >= maxGroups {
			continue
		}
		seen[m.cgroup] = true
		c := cgroups{root, m.pid, m.cgroup}
		g.findCPU(c, cpu)
		g.findMemory(c, memory)
		if m == members[0] {
			g.findPressure(c)
		}
	}
	if _, still := g.paths[told]; still {
		g.told = told
	}
}

func (g *groups) findCPU(c cgroups, known map[string]*cpuGroup) {
	innermost := true
	for _, dir := range c.dirs("cpu") {
		group := known[dir]
		if group == nil {
			if !exists(dir + "/cpu.stat") {
				continue
			}
			group = newCPUGroup(dir)
			known[dir] = group
		}
		if _, listed := g.paths[group]; !listed {
			g.cpuList = append(g.cpuList, group)
			g.paths[group] = c.name(dir)
		}
		if innermost {
			g.innermost[group], innermost = true, false
		}
	}
}

// findPressure takes the innermost group of version 2 that tells it.
func (g *groups) findPressure(c cgroups) {
	g.cpuPressure, g.memoryPressure = kept{}, kept{}
	for _, dir := range c.dirs("") {
		if exists(dir + "/cpu.pressure") {
			g.cpuPressure, g.memoryPressure = kept{path: dir + "/cpu.pressure"}, kept{path: dir + "/memory.pressure"}
			return
		}
	}
}

// name is a group's path as it is told: below the mount, without the hierarchy.
func (c cgroups) name(dir string) string {
	_, path, _ := strings.Cut(dir, "/sys/fs/cgroup")
	for controllers := range memberOf(c.membership) {
		for _, hierarchy := range append(strings.Split(controllers, ","), controllers, "unified") {
			if rest, ok := strings.CutPrefix(path, "/"+hierarchy); ok && hierarchy != "" && (rest == "" || rest[0] == '/') {
				return "/" + strings.TrimPrefix(rest, "/")
			}
		}
	}
	return "/" + strings.TrimPrefix(path, "/")
}

func (g *groups) close(r *reader) {
	for _, c := range g.cpuList {
		r.close(&c.stat)
	}
	r.close(&g.cpuPressure)
	r.close(&g.memoryPressure)
}
