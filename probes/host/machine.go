package host

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"llmtop/probes"
)

// Machine is what does not change while the machine runs. What cannot be read is empty.
type Machine struct {
	Kernel      string  // release, as uname -r says
	OS          string  // the distribution's own name
	CPU         string  // model
	MemoryBytes float64 // all of it
}

// ReadMachine reads the machine below root ("" or "/" for this one).
func ReadMachine(root string) Machine {
	file := func(name string) string {
		b, _ := read(filepath.Join("/"+root, name), nil)
		return string(b)
	}
	m := Machine{
		Kernel: kernelRelease(filepath.Clean("/" + root)),
		OS:     probes.Printable(strings.Trim(after(file("etc/os-release"), "PRETTY_NAME", "="), `"'`), 100),
		CPU:    probes.Printable(after(file("proc/cpuinfo"), "model name", ":"), 100),
	}
	var kib float64
	if _, err := fmt.Sscanf(after(file("proc/meminfo"), "MemTotal", ":"), "%g kB", &kib); err == nil {
		m.MemoryBytes = kib * 1024
	}
	return m
}

// after is what follows name and the separator on the first line that begins with name.
func after(text, name, separator string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, separator); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// maxCommand bounds the command line that is read of a process.
const maxCommand = 64 << 10

// CommandLine reads the arguments that a process was started with, the program first. It
// may hold secrets, and is not cleaned. Reading waits for the process's memory to be free
// of the kernel's locks: not for a goroutine that must not wait.
func CommandLine(root string, pid int) ([]string, error) {
	b, err := read(filepath.Join("/"+root, "proc", strconv.Itoa(pid), "cmdline"), nil)
	if err != nil {
		return nil, fmt.Errorf("reading the command line of process %d: %w", pid, gone(err))
	}
	b = bytes.TrimRight(b[:min(len(b), maxCommand)], "\x00")
	if len(b) == 0 {
		return nil, fmt.Errorf("process %d has no command line", pid)
	}
	return strings.Split(string(b), "\x00"), nil
}
