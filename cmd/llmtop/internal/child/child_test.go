package child

import (
	"io"
	"strings"
	"testing"
)

// TestParent closes the pipe as the end of the parent does, in whatever way it came.
func TestParent(t *testing.T) {
	in, parent := io.Pipe()
	lines, ended := make(chan string), make(chan struct{})
	Parent(in, func(line string) { lines <- line }, func() { close(ended) })
	io.WriteString(parent, "tokenizer 3ms\n")
	if got := <-lines; got != "tokenizer 3ms" {
		t.Errorf("control line %q", got)
	}
	parent.Close()
	<-ended
}

// TestChild starts a program that says where it listens and waits for its input to
// end, then one that dies with a word.
func TestChild(t *testing.T) {
	c, err := Command{Exe: "/bin/sh", Args: []string{"-c", "echo serving on http://127.0.0.1:1; cat >/dev/null"}}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if line := <-c.First(); line != "serving on http://127.0.0.1:1" {
		t.Errorf("first line %q", line)
	}
	c.Stop()
	dying, err := Command{Exe: "/bin/sh", Args: []string{"-c", "echo no such model >&2; exit 1"}}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-dying.Done()
	if err := dying.Err(); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("%v, want what it said last", err)
	}
	if _, err := (Command{Exe: "/no/such/program", Args: []string{"serve"}}).Start(t.Context()); err == nil {
		t.Error("a program that is not there was started")
	}
}
