package nvml

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"llmtop/probes"
)

// firstNamespace is how the kernel names the process numbers that the driver gives: those
// of the host (PROC_PID_INIT_INO).
const firstNamespace = "pid:[4026531836]"

// namesOf returns what tells the names of the host's processes. In a container with
// process numbers of its own, the same number is another process: there are no names then.
func namesOf(root string) func(pid int) string {
	here, err := os.Readlink(filepath.Join(root, "proc/self/ns/pid"))
	if err != nil || here != firstNamespace {
		return func(int) string { return "" }
	}
	return func(pid int) string {
		f, err := os.Open(filepath.Join(root, "proc", fmt.Sprint(pid), "comm"))
		if err != nil {
			return ""
		}
		defer f.Close()
		comm, err := io.ReadAll(io.LimitReader(f, 64))
		if err != nil {
			return ""
		}
		return probes.Printable(strings.TrimSpace(string(comm)), 64)
	}
}
