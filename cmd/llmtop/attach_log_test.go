package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// logCommands are the commands that attach.
var logCommands = [][]string{{}, {"record"}, {"diagnose"}}

func TestLogFlag(t *testing.T) {
	for _, args := range logCommands {
		cmd, _, err := newRoot().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags([]string{"--log", "/var/log/vllm.log", "--log=journal:vllm", "--log", "auto", "--log", "/var/log/../log/vllm.log"}); err != nil {
			t.Fatal(err)
		}
		if got, want := cmd.Flag("log").Value.String(), "file:/var/log/vllm.log journal:vllm auto"; got != want {
			t.Errorf("llmtop %s: got %q, want %q", strings.Join(args, " "), got, want)
		}
	}
}

func TestLogFlagRefusesWhatIsNoLog(t *testing.T) {
	many := slices.Repeat([]string{"--log"}, maxLogs+1)
	for i := range many {
		many[i] += "=/var/log/" + strings.Repeat("x", i+1)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--log="}, "--log: the log has no name\n  give the log's file"},
		{[]string{"--log", "journal:--help"}, `--log: "--help" is not the name of a unit` + "\n  give"},
		{[]string{"--log", "docker:a b"}, "is not the ID or name of a container"},
		{[]string{"--log"}, "needs an argument"},
		{many, "--log: more than 32 logs"},
	} {
		for _, command := range logCommands {
			var out, errs bytes.Buffer
			if code := run(append(slices.Clone(command), c.args...), &out, &errs); code != exitUsage || !strings.Contains(errs.String(), c.want) || strings.Contains(errs.String(), "invalid argument") {
				t.Errorf("llmtop %s: status %d, %q; want %q", strings.Join(append(slices.Clone(command), c.args...), " "), code, errs.String(), c.want)
			}
		}
	}
}

func TestLogProbes(t *testing.T) {
	list := logProbes([]string{"file:/var/log/a.log", "auto", "docker:x"}, time.Second, func() int { return 0 })
	var names []string
	for _, p := range list {
		names = append(names, p.Probe.Name())
		if p.Every != time.Second {
			t.Errorf("%s every %s", p.Probe.Name(), p.Every)
		}
	}
	if want := []string{"log file:/var/log/a.log", "log auto", "log docker:x"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// TestLogsDoc holds the page on logs against the command tree.
func TestLogsDoc(t *testing.T) {
	page := document(t, filepath.Join("docs", "logs.md"))
	for _, kind := range probes.LogKinds {
		if star := slices.Contains(probes.LogIncidents, kind); !strings.Contains(page, "`"+kind+"`") || strings.Contains(page, "`"+kind+"` *") != star {
			t.Errorf("docs/logs.md: the kind %s, with a * if it is an event: %t", kind, star)
		}
	}
	commands := commandsIn(page)
	if len(commands) < 4 {
		t.Fatalf("only %d commands found", len(commands))
	}
	for _, args := range commands {
		cmd, rest, err := newRoot().Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil {
			t.Errorf("llmtop %s: %v", strings.Join(args, " "), err)
		}
	}
}
