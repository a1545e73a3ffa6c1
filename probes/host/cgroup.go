package host

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// cgroups are where a process is a member.
type cgroups struct {
	root       string
	pid        int
	membership string // what /proc/PID/cgroup says
}

// dirs lists the directories of a controller's group and of all above it, innermost
// first: of version 1 where the controller is mounted so, then of version 2.
func (c cgroups) dirs(controller string) []string {
	var v1, v2 []string
	for controllers, path := range memberOf(c.membership) {
		switch {
		case controllers == "":
			v2 = append(c.below("", path), c.below("unified", path)...)
		case strings.Contains(","+controllers+",", ","+controller+","):
			if v1 = c.below(controllers, path); !exists(filepath.Join(c.mount(), controllers)) {
				v1 = c.below(controller, path)
			}
		}
	}
	return append(v1, v2...)
}

func (c cgroups) mount() string { return filepath.Join(c.root, "sys/fs/cgroup") }

// below lists a path in one hierarchy and its parents. A path from ".." on is that of a
// process outside our cgroup namespace, as seen from within: what the process itself sees
// at its mount is taken if it stands there, else the path from the hierarchy's root.
func (c cgroups) below(hierarchy, path string) []string {
	ours := filepath.Join(c.mount(), hierarchy)
	if !outside(path) {
		return upwards(ours, path)
	}
	theirs := filepath.Join(c.root, "proc", strconv.Itoa(c.pid), "root/sys/fs/cgroup", hierarchy)
	if alike(theirs, ours) && c.stands(theirs) {
		return []string{theirs}
	}
	if dirs := upwards(ours, path); len(dirs) > 1 && c.stands(dirs[0]) {
		return dirs
	}
	return nil
}

// outside reports a path in a hierarchy that leads out of our cgroup namespace. A group's own
// name may have dots in it.
func outside(path string) bool { return path == "/.." || strings.HasPrefix(path, "/../") }

// stands reports whether the process is in the group with this directory.
func (c cgroups) stands(dir string) bool {
	text, err := read(dir+"/cgroup.procs", nil)
	if err != nil {
		return false
	}
	for word := range bytes.FieldsSeq(text) {
		if string(word) == strconv.Itoa(c.pid) {
			return true
		}
	}
	return false
}

// alike reports whether two directories are of the same kind of file system. In a
// container anything may have been put where the kernel's files are expected.
func alike(a, b string) bool {
	var fa, fb syscall.Statfs_t
	return syscall.Statfs(a, &fa) == nil && syscall.Statfs(b, &fb) == nil && fa.Type == fb.Type
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// memberOf reads /proc/PID/cgroup: the controllers of each hierarchy that the process
// is a member of, none for version 2, and its path there.
func memberOf(membership string) iter.Seq2[string, string] {
	return func(yield func(controllers, path string) bool) {
		for line := range strings.Lines(membership) {
			fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
			if len(fields) != 3 || strings.Contains(fields[1], "/") {
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
