// Package child builds llmtop and runs its engine in a process of its own, for the
// programs of this folder. It takes the repository's root as working directory.
package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// Binary is a llmtop that was built here.
type Binary struct {
	Path string // of the executable
	dir  string
}

// Build builds llmtop; Remove deletes it again.
func Build() (*Binary, error) {
	dir, err := os.MkdirTemp("", "llmtop")
	if err != nil {
		return nil, err
	}
	b := &Binary{Path: filepath.Join(dir, "llmtop"), dir: dir}
	if out, err := exec.Command("go", "build", "-o", b.Path, "./cmd/llmtop").CombinedOutput(); err != nil {
		b.Remove()
		return nil, fmt.Errorf("building llmtop: %w: %s", err, out)
	}
	return b, nil
}

// Remove deletes the binary.
func (b *Binary) Remove() { os.RemoveAll(b.dir) }

// Engine is a running `llmtop serve`.
type Engine struct {
	URL string
	cmd *exec.Cmd
}

var address = regexp.MustCompile(`http://[^ ]+`)

// Serve starts the engine on a free port with further arguments, and waits for its
// address. Its event log goes beside the binary.
func (b *Binary) Serve(args ...string) (*Engine, error) {
	e := &Engine{cmd: exec.Command(b.Path, append([]string{"serve", "--addr", "127.0.0.1:0", "--log-file", filepath.Join(b.dir, "events.log")}, args...)...)}
	e.cmd.Stderr, e.cmd.SysProcAttr = os.Stderr, ownGroup()
	stdout, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	for e.URL == "" && lines.Scan() {
		e.URL = address.FindString(lines.Text())
	}
	if e.URL == "" {
		return nil, fmt.Errorf("llmtop serve told no address: %w", e.cmd.Wait())
	}
	go func() {
		for lines.Scan() { // a full pipe would stop the engine
		}
	}()
	return e, nil
}

// Stop ends the engine and waits for it.
func (e *Engine) Stop() {
	e.cmd.Process.Signal(os.Interrupt)
	e.cmd.Wait() // how it ends says nothing of what was measured
}
