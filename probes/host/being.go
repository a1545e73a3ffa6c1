package host

import (
	"path/filepath"
	"strconv"
)

// Being is a process in time: its number may be given to another one after it ended.
type Being struct {
	dir   string
	start string // clock ticks after boot
}

// Meet takes note of a process of this machine (below root); false when there is none.
func Meet(root string, pid int) (Being, bool) {
	b := Being{dir: filepath.Join("/", root, "proc", strconv.Itoa(pid))}
	b.start = startOf(b.dir)
	return b, b.start != ""
}

// Alive reports whether it is still the same process.
func (b Being) Alive() bool { return b.start != "" && startOf(b.dir) == b.start }

// Owner is the user it belongs to, -1 when that is not known.
func (b Being) Owner() int { return ownerOf(b.dir) }

// Argv is its command line, bounded; nil when it has none.
func (b Being) Argv() []string { return argvOf(b.dir, make([]byte, maxLine)) }

// startOf is the 22nd field of the process's stat, "" when there is no such process or it
// is dead and only not yet waited for.
func startOf(dir string) string {
	text, err := read(dir+"/stat", nil)
	if err != nil {
		return ""
	}
	fields := statFields(text)
	if len(fields[statState]) != 1 || (stat{state: fields[statState][0]}).dead() {
		return ""
	}
	return string(fields[statStart])
}
