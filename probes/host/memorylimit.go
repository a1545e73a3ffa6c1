package host

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
)

// MemoryLimit is the memory that this process may take, in bytes: the machine's, or
// that of the tightest of its cgroups. root is the path of the root directory; 0
// means that nothing could be read.
func MemoryLimit(root string) int64 {
	limit := int64(0)
	if text, err := read(filepath.Join(root, "proc/meminfo"), nil); err == nil {
		kilobytes, _ := value(text, "MemTotal")
		limit = int64(kilobytes) << 10
	}
	membership, err := read(filepath.Join(root, "proc/self/cgroup"), nil)
	if err != nil {
		return limit
	}
	for _, dir := range memoryDirs(filepath.Join(root, "sys/fs/cgroup"), string(membership)) {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			text, err := read(filepath.Join(dir, file), nil)
			if err != nil {
				continue
			}
			// "max" and the huge number of version 1 say that there is none.
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n > 0 && (limit == 0 || n < limit) {
				limit = n
			}
		}
	}
	return limit
}

// memoryDirs lists the directories of a process's memory cgroups and of all above them, of both versions.
func memoryDirs(mount, membership string) (dirs []string) {
	for controllers, path := range memberOf(membership) {
		switch {
		case outside(path): // outside what is seen from here
		case controllers == "":
			dirs = append(dirs, upwards(mount, path)...)
		case strings.Contains(","+controllers+",", ",memory,"):
			dirs = append(dirs, upwards(filepath.Join(mount, "memory"), path)...)
		}
	}
	return dirs
}
