package record

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWriterProcess is not a test of its own: it is what TestKillNine kills.
func TestWriterProcess(t *testing.T) {
	path := os.Getenv("LLMTOP_RECORD_TEST_PATH")
	if path == "" {
		t.Skip("runs as a process of TestKillNine")
	}
	w, err := Create(path, Manifest{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range newSmall().rich(2000) {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("written %d\n", i+1)
	}
}

// writeAndKill starts a process that writes, kills it after some samples, and returns
// how many it said were written.
func writeAndKill(t *testing.T, path string, after int) int {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$", "-test.v")
	c.Env = append(os.Environ(), "LLMTOP_RECORD_TEST_PATH="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	written := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "written "); ok {
			fmt.Sscan(n, &written)
		}
		if written == after {
			c.Process.Kill()
		}
	}
	if c.Wait() == nil {
		t.Fatal("the writer was not killed")
	}
	return written
}

func TestKillNine(t *testing.T) {
	samples := newSmall().rich(2000)
	rng := rand.New(rand.NewSource(time.Now().UnixNano()))
	for range 10 {
		path := filepath.Join(t.TempDir(), "killed.llmrec")
		written := writeAndKill(t, path, 1+rng.Intn(70))
		r := open(t, path)
		got := read(t, r)
		if len(got) < written {
			t.Fatalf("%d samples were written, %d are there", written, len(got))
		}
		for i := range got {
			assertSame(t, got[i], samples[i])
		}
		if i := r.Info(); i.Damaged != 0 || i.CleanClose || i.Manifest.PID == 0 {
			t.Errorf("info %+v", i)
		}
		if _, err := Create(path, Manifest{}); err == nil || strings.Contains(err.Error(), "is writing") {
			t.Errorf("the dead writer's file: %v", err)
		}
	}
}
