package main

import (
	"os"
	"runtime"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
	"llmtop/probes/record"
)

// commandFacts is how a process was started, without secrets.
func commandFacts(pid int) map[string]string {
	argv, err := host.CommandLine("/", pid)
	if err != nil {
		return nil
	}
	return map[string]string{"engine_command": quoted(record.CleanCommand(argv))}
}

// quoted joins arguments so that a shell would take them apart again.
func quoted(argv []string) string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		if out[i] = arg; arg == "" || strings.ContainsAny(arg, " \t\"'`$&|;<>()*?[]{}#~!\\") {
			out[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return probes.Printable(strings.Join(out, " "), 8<<10)
}

// manifest is what is known when a recording begins.
func manifest(interval time.Duration) record.Manifest {
	name, _ := os.Hostname() // a recording without it is still one
	m := host.ReadMachine("/")
	facts := map[string]string{"go": runtime.Version()}
	for k, v := range map[string]string{"kernel": m.Kernel, "distribution": m.OS} {
		if v != "" {
			facts[k] = v
		}
	}
	return record.Manifest{
		Version: version(), Created: time.Now().UTC(), Interval: interval, Command: os.Args,
		Host: name, OS: runtime.GOOS + " " + runtime.GOARCH, CPUs: runtime.NumCPU(), CPU: m.CPU, Memory: m.MemoryBytes,
		Facts: facts,
	}
}
