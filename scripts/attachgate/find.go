package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"time"

	"llmtop/scripts/internal/child"
)

// Discovery has this long, on a host with this many sockets that take connections and
// never answer.
const (
	mostFind = 300 * time.Millisecond
	deaf     = 300
	finds    = 5
)

// discovery times `llmtop find`, the median of a few.
func discovery(ctx context.Context) ([]row, error) {
	const what = "llmtop find among deaf sockets"
	llmtop, err := child.Build()
	if err != nil {
		return nil, err
	}
	defer llmtop.Remove()
	help, err := exec.CommandContext(ctx, llmtop.Path, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("llmtop --help: %w", err)
	}
	if !hasCommand(string(help), "find") {
		return []row{{what, fmt.Sprintf("at most %s", mostFind), "not measured: llmtop has no command find", true}}, nil
	}
	engine, err := llmtop.Serve()
	if err != nil {
		return nil, err
	}
	defer engine.Stop()
	for range deaf {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // the kernel takes connections, nobody reads them
	}
	var took []time.Duration
	found := true
	for range finds {
		began := time.Now()
		out, err := exec.CommandContext(ctx, llmtop.Path, "find", "--json").Output()
		if err != nil {
			return nil, fmt.Errorf("llmtop find: %w", err)
		}
		took = append(took, time.Since(began))
		port := engine.URL[strings.LastIndexByte(engine.URL, ':'):]
		found = found && strings.Contains(string(out), port)
	}
	slices.Sort(took)
	seen := fmt.Sprintf("median %s, worst %s, with the start of the program", took[finds/2].Round(time.Millisecond), took[finds-1].Round(time.Millisecond))
	if !found {
		seen += "; the engine was not found"
	}
	return []row{{what, fmt.Sprintf("at most %s", mostFind), seen, found && took[finds/2] <= mostFind}}, nil
}

// hasCommand looks for a command in what --help prints.
func hasCommand(help, name string) bool {
	for line := range strings.Lines(help) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  ") && len(words) > 1 && words[0] == name {
			return true
		}
	}
	return false
}
