package host

import (
	"bytes"
	"iter"
	"path/filepath"
	"strconv"
	"strings"

	"llmtop/probes"
)

// limits fills in the CPU quota of the process and how often it was throttled:
// of all cgroups from its own up to the root, the one with the tightest quota
// decides. Without any quota the process's own cgroup tells (0 throttled).
func limits(root string, pid int, s *probes.Process) {
	none := probes.None[float64](probes.NotExposed)
	s.CgroupPeriodsTotal, s.CgroupThrottledTotal, s.CgroupThrottledSecTotal, s.CPULimitCores = none, none, none, none
	membership, err := read(filepath.Join(root, "proc", strconv.Itoa(pid), "cgroup"), nil)
	if err != nil {
		none = probes.None[float64](why(err))
		s.CgroupPeriodsTotal, s.CgroupThrottledTotal, s.CgroupThrottledSecTotal, s.CPULimitCores = none, none, none, none
		return
	}
	var tightest, own *group
	for _, dir := range cgroupDirs(filepath.Join(root, "sys/fs/cgroup"), string(membership)) {
		g, ok := readGroup(dir)
		if !ok {
			continue
		}
		if own == nil {
			own = g
		}
		if g.cores > 0 && (tightest == nil || g.cores < tightest.cores) {
			tightest = g
		}
	}
	if tightest == nil {
		tightest = own
	}
	if tightest != nil {
		tightest.fill(s)
	}
}

// group is the CPU side of one cgroup.
type group struct {
	cores                       float64 // quota in cores, 0 when unlimited
	periods, throttled, seconds float64
}

func (g *group) fill(s *probes.Process) {
	s.CgroupPeriodsTotal = probes.Some(g.periods)
	s.CgroupThrottledTotal = probes.Some(g.throttled)
	s.CgroupThrottledSecTotal = probes.Some(g.seconds)
	if g.cores > 0 {
		s.CPULimitCores = probes.Some(g.cores)
	}
}

// cgroupDirs lists the directories of a process's CPU cgroup and of all above
// it, innermost first: version 1 where a cpu controller is mounted, else version 2.
func cgroupDirs(mount, membership string) []string {
	var v1, v2 []string
	for controllers, path := range memberOf(membership) {
		switch {
		case controllers == "":
			v2 = append(upwards(mount, path), upwards(mount+"/unified", path)...)
		case strings.Contains(","+controllers+",", ",cpu,"):
			v1 = append(upwards(mount+"/cpu", path), upwards(mount+"/"+controllers, path)...)
		}
	}
	return append(v1, v2...)
}

// memberOf reads /proc/PID/cgroup: the controllers of each hierarchy that the process
// is a member of, none for version 2, and its path there.
func memberOf(membership string) iter.Seq2[string, string] {
	return func(yield func(controllers, path string) bool) {
		for line := range strings.Lines(membership) {
			fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
			if len(fields) != 3 || strings.Contains(fields[2], "..") {
				continue
			}
			if !yield(fields[1], fields[2]) {
				return
			}
		}
	}
}

// upwards lists base/path and its parents down to base; at most 32 of them.
func upwards(base, path string) (dirs []string) {
	for path = filepath.Clean("/" + path); len(dirs) < 32; path = filepath.Dir(path) {
		dirs = append(dirs, filepath.Join(base, path))
		if path == "/" {
			break
		}
	}
	return dirs
}

// readGroup reads cpu.stat and the quota: cpu.max of version 2 ("quota period"
// or "max period", microseconds) or cpu.cfs_quota_us (-1: none) of version 1.
func readGroup(dir string) (*group, bool) {
	stat, err := read(dir+"/cpu.stat", nil)
	if err != nil {
		return nil, false
	}
	g := &group{}
	g.periods, _ = value(stat, "nr_periods")
	g.throttled, _ = value(stat, "nr_throttled")
	if us, ok := value(stat, "throttled_usec"); ok {
		g.seconds = us / 1e6
	} else if ns, ok := value(stat, "throttled_time"); ok {
		g.seconds = ns / 1e9
	}
	if text, err := read(dir+"/cpu.max", nil); err == nil {
		g.cores = quota(bytes.Fields(text))
	} else if q, err := read(dir+"/cpu.cfs_quota_us", nil); err == nil {
		if period, err := read(dir+"/cpu.cfs_period_us", nil); err == nil {
			g.cores = quota(append(bytes.Fields(q), bytes.Fields(period)...))
		}
	}
	return g, true
}

// quota is quota over period in cores, 0 when there is none.
func quota(fields [][]byte) float64 {
	if len(fields) < 2 {
		return 0
	}
	q, err1 := strconv.ParseFloat(string(fields[0]), 64)
	period, err2 := strconv.ParseFloat(string(fields[1]), 64)
	if err1 != nil || err2 != nil || q <= 0 || period <= 0 {
		return 0
	}
	return q / period
}
