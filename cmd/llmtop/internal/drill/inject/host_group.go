package inject

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// group is a control group that is made for one process, of either version.
type group struct {
	dir  string
	home string // the directory of the group that the process was in
	v2   bool
	pid  int
}

// groupPrefix begins the names of all groups that runs make; what follows is whose.
const groupPrefix = "llmtop-run-"

// newGroup makes a group with a controller below the one that a process is in, so that all
// limits that hold for it go on to hold, and puts the process into it. root is the path of
// the root directory. Groups that runs have left behind which were killed are removed.
func newGroup(root, controller string, pid int) (*group, error) {
	g := &group{pid: pid}
	parent, err := g.find(root, controller)
	if err != nil {
		return nil, err
	}
	sweepGroups(root, parent)
	own := fmt.Sprintf("%s%d-%s-", groupPrefix, os.Getpid(), startOf(root, os.Getpid()))
	if g.dir, err = os.MkdirTemp(parent, own); err != nil {
		return nil, lacksGroup(controller, err)
	}
	if err := put(g.dir, strconv.Itoa(pid)); err != nil {
		return nil, errors.Join(lacksGroup(controller, err), os.Remove(g.dir))
	}
	return g, nil
}

// lacksGroup tells a right that is missing from other errors.
func lacksGroup(controller string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "read-only") {
		return Lacking(fmt.Sprintf("needs root, or a cgroup of its own with the %s controller: %v", controller, err))
	}
	return fmt.Errorf("making a cgroup: %w", err)
}

// find sets home and returns the directory to make the group in.
func (g *group) find(root, controller string) (parent string, err error) {
	membership, err := os.ReadFile(filepath.Join(root, "proc", strconv.Itoa(g.pid), "cgroup"))
	if err != nil {
		return "", lacksGroup(controller, err)
	}
	mount := filepath.Join(root, "sys/fs/cgroup")
	unified := ""
	for line := range strings.Lines(string(membership)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[1] == "" {
			unified = f[2]
		}
		if slices.Contains(strings.Split(f[1], ","), controller) {
			for _, hierarchy := range []string{f[1], controller} {
				g.home = filepath.Join(mount, hierarchy, f[2])
				if _, err := os.Stat(filepath.Join(g.home, "cgroup.procs")); err == nil {
					return g.home, nil
				}
			}
		}
	}
	g.v2 = true
	for _, top := range []string{mount, filepath.Join(mount, "unified")} {
		g.home = filepath.Join(top, unified)
		for dir := g.home; unified != "" && strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
			enabled, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if err == nil && slices.Contains(strings.Fields(string(enabled)), controller) {
				return dir, nil
			}
		}
	}
	return "", Lacking(fmt.Sprintf("needs the %s controller of cgroups, which no group of the engine's has", controller))
}

// sweepGroups removes groups in a directory whose owner has ended. Those that are not empty
// yet stay for the next time: what runs in them ends with its owner.
func sweepGroups(root, parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	for _, dir := range left {
		f := strings.Split(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if owner, err := strconv.Atoi(f[0]); err == nil && len(f) >= 3 && startOf(root, owner) != f[1] {
			_ = os.Remove(dir)
		}
	}
}

// startOf is when a process began, in ticks since the machine did; 0 when it is not there.
func startOf(root string, pid int) string {
	f, err := procStat(root, pid)
	if err != nil {
		return "0"
	}
	return f[19]
}

// procStat are the fields of /proc/PID/stat from the third on, the state.
func procStat(root string, pid int) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(root, "proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, err
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f)+2)
	}
	return f, nil
}

// put moves a process, with all its threads, into the group of a directory.
func put(dir, pid string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(pid), 0)
}

// set writes a file of the group.
func (g *group) set(file, value string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(value), 0)
}

// read returns the number after a word in a file of the group, or the file's only number
// where the word is empty; 0 when there is none.
func (g *group) read(file, word string) float64 {
	b, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if word == "" && len(f) == 1 || len(f) == 2 && f[0] == word {
			v, _ := strconv.ParseFloat(f[len(f)-1], 64)
			return v
		}
	}
	return 0
}

// undo puts the process back, with those that it has started meanwhile, and removes the
// group; a second time it does nothing.
func (g *group) undo() error {
	if g == nil || g.dir == "" {
		return nil
	}
	var back, err error
	for range 40 { // one that is ending leaves the group last
		back = g.empty()
		if err = os.Remove(g.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			g.dir = ""
			return nil
		}
		pause(context.Background(), 50*time.Millisecond)
	}
	return errors.Join(back, fmt.Errorf("removing a cgroup: %w", err))
}

// empty moves all processes of the group to where the first was; one that has ended
// meanwhile is no error.
func (g *group) empty() (err error) {
	b, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	for _, pid := range strings.Fields(string(b)) {
		if e := put(g.home, pid); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = e
		}
	}
	return err
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
