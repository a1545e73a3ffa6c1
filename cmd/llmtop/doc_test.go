package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"llmtop/engine"
	"llmtop/probes"
)

// commandsIn returns the llmtop command lines of a text: "$ llmtop …" in the package
// comment, indented "llmtop …" or "go run ./cmd/llmtop …" in the README; comments cut off.
func commandsIn(text string) [][]string {
	var all [][]string
	line := regexp.MustCompile(`(?m)^(?:\t|    )(?:\$ )?(?:llmtop|go run \./cmd/llmtop)( [^\n]*)?$`)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		words, _, _ := strings.Cut(m[1], "#")
		var args []string
		for _, arg := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(words, -1) {
			args = append(args, strings.Trim(arg, `"`))
		}
		all = append(all, args)
	}
	return all
}

func packageComment(t *testing.T) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	return f.Doc.Text()
}

func readme(t *testing.T) string { return document(t, "README.md") }

// document is a text of the repository.
func document(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocCommandsParse holds every command line of the docs against the real
// command tree: the command is there and takes these flags and arguments.
func TestDocCommandsParse(t *testing.T) {
	for name, text := range map[string]string{"main.go": packageComment(t), "README.md": readme(t), "docs/engine.md": document(t, "docs/engine.md"),
		"docs/recording.md": document(t, "docs/recording.md"), "docs/otlp.md": document(t, "docs/otlp.md"),
		"docs/engines.md": document(t, "docs/engines.md"), "docs/logs.md": document(t, "docs/logs.md"), "docs/gpu.md": document(t, "docs/gpu.md"),
		"docs/host.md": document(t, "docs/host.md"), "docs/twin.md": document(t, "docs/twin.md"), "docs/twin-live.md": document(t, "docs/twin-live.md"),
		"docs/drills.md": document(t, "docs/drills.md"), "rules/README.md": document(t, "rules/README.md")} {
		commands := commandsIn(text)
		if len(commands) < 2 && name != "rules/README.md" || len(commands) == 0 {
			t.Errorf("%s: only %d commands found", name, len(commands))
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
				t.Errorf("%s: llmtop %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
}

// TestDocCommandsRun runs the commands of the package comment that end by themselves,
// in order, in an empty directory, against a real engine.
func TestDocCommandsRun(t *testing.T) {
	e, err := engine.New(engine.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); e.Run(t.Context()) }()
	t.Cleanup(func() { <-ended })
	server := httptest.NewServer(e.Handler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	link := programIn(t, dir)
	ran := 0
	for _, args := range commandsIn(packageComment(t)) {
		if !endsByItself(args) {
			continue
		}
		ran++
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "http://127.0.0.1:8000", server.URL)
		}
		cmd := exec.Command(link, args...)
		cmd.Dir = dir
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if args[0] == "diagnose" && cmd.ProcessState.ExitCode() == exitUnmeasurable {
			err = nil // an engine without traffic: a verdict too
		}
		if err != nil || out.Len() == 0 {
			t.Errorf("llmtop %s: %v\n%s", strings.Join(args, " "), err, out.String())
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands ran", ran)
	}
}

// TestRecorderUnitIsWhatTheDocsSay holds the systemd unit against the command tree: its
// command line parses, and it writes where the unit lets it.
func TestRecorderUnitIsWhatTheDocsSay(t *testing.T) {
	unit := document(t, "docs/llmtop-record.service")
	m := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/llmtop (.*)$`).FindStringSubmatch(unit)
	if m == nil {
		t.Fatal("no ExecStart")
	}
	cmd, rest, err := newRoot().Find(strings.Fields(m[1]))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil || cmd.Name() != "record" {
		t.Fatalf("%s: %v", m[1], err)
	}
	for _, line := range []string{"StateDirectory=llmtop", "ProtectSystem=strict", "Restart=always"} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit lacks %s", line)
		}
	}
	if store := cmd.Flags().Lookup("store").Value.String(); !strings.HasPrefix(store, "/var/lib/llmtop/") {
		t.Errorf("the unit may not write to %s", store)
	}
	if !strings.Contains(document(t, "docs/recording.md"), "llmtop-record.service") {
		t.Error("docs/recording.md does not name the unit")
	}
	verifyUnit(t, unit)
}

// verifyUnit asks systemd, where it is installed, with a program that is there.
func verifyUnit(t *testing.T, unit string) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("no systemd-analyze here: the unit is not verified")
		return
	}
	path := filepath.Join(t.TempDir(), "llmtop-record.service")
	unit = strings.ReplaceAll(unit, "/usr/local/bin/llmtop", "/bin/true")
	if err := os.WriteFile(path, []byte(unit), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// endsByItself tells commands that return from screens and servers.
func endsByItself(args []string) bool {
	text := strings.Join(args, " ")
	for _, prefix := range []string{"--once", "record -o", "info", "replay --once", "diagnose", "load",
		"export", "extract", "redact", "verify", "repair", "profile", "mark", "compare", "twin", "drill list", "drill run"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// TestREADMENamesWhatIsThere holds the README's paths and faults against the tree.
func TestREADMENamesWhatIsThere(t *testing.T) {
	text := readme(t)
	paths := regexp.MustCompile("`((?:cmd|probes|rules|panes|engine|testdata|scripts)(?:/[a-zA-Z0-9_.-]+)*)`").FindAllStringSubmatch(text, -1)
	if len(paths) < 8 {
		t.Fatalf("only %d paths found", len(paths))
	}
	for _, m := range paths {
		if strings.Contains(m[1], "NAME") || strings.Contains(m[1], "FAMILY") {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("README.md: %v", err)
		}
	}
	if !strings.Contains(text, "go test ./...") {
		t.Error("README.md names no test command")
	}
}

// TestDoctorIsDocumented: docs/gpu.md names everything that doctor --json prints, and each
// reason for a missing reading.
func TestDoctorIsDocumented(t *testing.T) {
	text := document(t, "docs/gpu.md")
	for _, of := range []reflect.Type{reflect.TypeFor[doctorReport](), reflect.TypeFor[frameReport](), reflect.TypeFor[doctorSections](), reflect.TypeFor[probeReport](),
		reflect.TypeFor[callReport](), reflect.TypeFor[missing](), reflect.TypeFor[setting]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name != "go" && !strings.Contains(text, "`"+name+"`") {
				t.Errorf("docs/gpu.md does not name %s of %s", name, of.Name())
			}
		}
	}
	for why := probes.NotSeen; why <= probes.Stale; why++ {
		if !strings.Contains(text, "| "+whyAbsent(why)+" |") {
			t.Errorf("docs/gpu.md does not explain %q", whyAbsent(why))
		}
	}
	for _, state := range []string{probeOK, probeLacks, probeBusy, probeFailed, probeHung} {
		if !strings.Contains(text, "`"+state+"`") {
			t.Errorf("docs/gpu.md does not explain the state %s", state)
		}
	}
}

// TestEveryDialectIsDocumented: docs/engines.md says of each what it tells.
func TestEveryDialectIsDocumented(t *testing.T) {
	text := document(t, "docs/engines.md")
	for _, name := range probes.Dialects {
		if !strings.Contains(text, "| `"+name+"`") {
			t.Errorf("docs/engines.md has no row for %s", name)
		}
	}
}
