package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/probes/host"
	"llmtop/probes/record"
)

// versionPages are where engines tell their version, by dialect; the others as vLLM does.
var versionPages = map[string]string{"sglang": "/get_server_info"}

// askerOf asks engines as the source of their samples reaches them.
func askerOf(source probes.Source) func(endpoint, dialect string) map[string]string {
	access := func(string) probes.Access { return probes.Access{} }
	if a, ok := source.(interface{ accessTo(string) probes.Access }); ok {
		access = a.accessTo
	}
	return func(endpoint, dialect string) map[string]string {
		return askEngine(endpoint, dialect, access(endpoint))
	}
}

// askEngine asks an engine for its version and the longest sequence of its model. What it
// does not tell is not there.
func askEngine(endpoint, dialect string, access probes.Access) map[string]string {
	page := versionPages[dialect]
	if page == "" {
		page = "/version"
	}
	var version struct {
		Version string `json:"version"`
	}
	var models struct {
		Data []struct {
			MaxModelLen int `json:"max_model_len"`
		} `json:"data"`
	}
	facts := map[string]string{}
	if fetchJSON(endpoint, page, access, &version) && version.Version != "" {
		facts["engine_version"] = probes.Printable(version.Version, 200)
	}
	if fetchJSON(endpoint, "/v1/models", access, &models) && len(models.Data) > 0 && models.Data[0].MaxModelLen > 0 {
		facts["max_model_len"] = strconv.Itoa(models.Data[0].MaxModelLen)
	}
	return facts
}

// fetchJSON gets one small page; false when there is none.
func fetchJSON(endpoint, page string, access probes.Access, into any) bool {
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return false
	}
	f := probes.NewFetcher(e, page, probes.FetchOptions{MaxBytes: 1 << 20, Access: access, Accept: "application/json"})
	defer f.Close()
	got, err := f.Get(context.Background(), nil)
	return err == nil && json.Unmarshal(got.Body, into) == nil
}

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
