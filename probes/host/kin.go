package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// allowedLine is that of /proc/PID/status that lists the cores it may run on.
const allowedLine = "Cpus_allowed_list"

// maxAllowed bounds the processes of engines whose cores are asked for.
const maxAllowed = 32

// kin knows which processes belong to some roots: they and all below them.
type kin struct {
	all    map[int]seen
	member map[int]bool
}

func newKin(all map[int]seen, roots []int) *kin {
	k := &kin{all, make(map[int]bool, len(all))}
	for _, pid := range roots {
		k.member[pid] = true
	}
	return k
}

// has climbs from a process up to one that it is known of, and notes the answer for all on
// the way. Processes end while they are listed: a loop of parents ends too.
func (k *kin) has(pid int) bool {
	var way []int
	is := false
	for {
		known := false
		if is, known = k.member[pid]; known {
			break
		}
		p, there := k.all[pid]
		if !there {
			break
		}
		k.member[pid] = false // until it is known better
		way = append(way, pid)
		pid = p.parent
	}
	for _, pid := range way {
		k.member[pid] = is
	}
	return is
}

// rayWorkers takes in the siblings of roots that are Ray's actors: those are no children of
// who uses them. It comes before anything is asked.
func (k *kin) rayWorkers(proc string, roots []int) {
	isActor := func(pid int) bool { return strings.HasPrefix(titleOf(proc, pid), "ray::") }
	for _, root := range roots {
		of, there := k.all[root]
		if !there || !isActor(root) {
			continue
		}
		for pid, p := range k.all {
			if p.parent == of.parent && isActor(pid) {
				k.member[pid] = true
			}
		}
	}
}

// allowed is the set of cores that they may run on, nil when that is not known.
func (k *kin) allowed(proc string, roots []int) (set cpuSet) {
	asked := 0
	ask := func(pid int) {
		if asked++; asked <= maxAllowed {
			set = set.with(allowedCPUs(proc, pid))
		}
	}
	for _, pid := range roots {
		ask(pid)
	}
	var below []int
	for pid := range k.all {
		if k.has(pid) && !slices.Contains(roots, pid) {
			below = append(below, pid)
		}
	}
	slices.Sort(below)
	for _, pid := range below {
		ask(pid)
	}
	return set
}

// allowedCPUs are the cores that a process may run on, nil when that is not to be seen.
func allowedCPUs(proc string, pid int) cpuSet {
	text, err := read(filepath.Join(proc, strconv.Itoa(pid), "status"), nil)
	if err != nil {
		return nil
	}
	set, _ := parseCPUs(after(string(text), allowedLine, ":"))
	return set
}
