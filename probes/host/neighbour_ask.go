package host

import (
	"path/filepath"
	"strconv"
	"strings"

	"llmtop/probes"
)

// ask reads what the stat of a neighbour does not tell; false when it is gone.
func (c *crowd) ask(n *neighbour) bool {
	dir := filepath.Join(c.proc, strconv.Itoa(n.PID))
	text, err := readHead(dir+"/stat", make([]byte, 4096))
	if err != nil {
		return false
	}
	now, ok := parseStat(text)
	p := c.all[n.PID]
	if !ok || now.dead() || now.start != p.start {
		return false
	}
	n.Name = statName(text)
	status, err := read(dir+"/status", nil)
	var allowed cpuSet
	if err == nil {
		uid, _, _ := strings.Cut(after(string(status), "Uid", ":"), "\t")
		n.User = c.users.name(uid)
		allowed, _ = parseCPUs(after(string(status), allowedLine, ":"))
	} else {
		n.SharedCPUs = probes.None[float64](why(err))
	}
	c.onEngines(n, allowed)
	c.disks(n, p, dir)
	n.CgroupWeight = weight(c.before.root, dir)
	return true
}

// disks reads what a neighbour moves to and from disks: root may know it of all processes,
// others of their own.
func (c *crowd) disks(n *neighbour, p seen, dir string) {
	text, err := read(dir+"/io", nil)
	if err != nil {
		n.IOBytesPerS = probes.None[float64](why(err))
		return
	}
	in, ok := value(text, "read_bytes")
	out, ok2 := value(text, "write_bytes")
	if !ok || !ok2 {
		n.IOBytesPerS = probes.None[float64](probes.NotExposed)
		return
	}
	p.io, p.ioKnown = in+out, true
	c.all[n.PID] = p // for the next look
	was, there := c.before.last[n.PID]
	switch {
	case c.span <= 0:
	case there && was.start == p.start && was.ioKnown:
		n.IOBytesPerS = probes.Some(max(0, p.io-was.io) / c.span)
	case p.start > c.before.newest:
		n.IOBytesPerS = probes.Some(p.io / c.span)
	}
}

// weight is that of the innermost cgroup that has one: cpu.shares of version 1,
// cpu.weight of version 2.
func weight(root, dir string) probes.Opt[float64] {
	membership, err := read(dir+"/cgroup", nil)
	if err != nil {
		return probes.None[float64](why(err))
	}
	for _, group := range weighed(filepath.Join(root, "sys/fs/cgroup"), string(membership)) {
		for _, file := range []string{"cpu.shares", "cpu.weight"} {
			if w := numberOf(filepath.Join(group, file), 1); w.Seen() {
				return w
			}
		}
	}
	return probes.None[float64](probes.NotExposed)
}

// weighed lists the directories of a process's CPU cgroup and of all above it, innermost
// first, of version 1 before those of version 2: a machine that mounts both shares its
// cores out by the former.
func weighed(mount, membership string) (dirs []string) {
	var version2 []string
	for controllers, path := range memberOf(membership) {
		switch {
		case outside(path): // outside of what is seen from here
		case controllers == "":
			version2 = append(upwards(mount, path), upwards(mount+"/unified", path)...)
		case strings.Contains(","+controllers+",", ",cpu,"):
			dirs = append(dirs, append(upwards(mount+"/cpu", path), upwards(mount+"/"+controllers, path)...)...)
		}
	}
	return append(dirs, version2...)
}

// users names users by the machine's own list. No directory service is asked: it may be
// what is slow.
type users struct {
	path  string
	names map[string]string // by number; nil: not read yet
}

// name is a user's, the number where the list does not have it.
func (u *users) name(uid string) string {
	if uid = strings.TrimSpace(uid); uid == "" {
		return ""
	}
	if u.names == nil {
		u.names = map[string]string{}
		text, _ := read(u.path, nil)
		for line := range strings.Lines(string(text)) {
			if f := strings.SplitN(line, ":", 4); len(f) == 4 {
				if _, known := u.names[f[2]]; !known {
					u.names[f[2]] = f[0]
				}
			}
		}
	}
	if name := u.names[uid]; name != "" {
		uid = name
	}
	return probes.Printable(uid, 32)
}
