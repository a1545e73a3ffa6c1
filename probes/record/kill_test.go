package record

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// kills is how many writers are killed: go test -run KillNine ./probes/record -kills 200
var kills = flag.Int("kills", 12, "how many processes TestKillNine… kill")

// killedSamples is what the writers that are killed write, each from where it finds the
// recording; more than killsEach of them can.
func killedSamples() []*probes.Sample { return newSmall().rich(2500) }

// killsEach is how many writers of one recording are killed.
const killsEach = 12

// TestWriterProcess is not a test of its own: it is what TestKillNine… kill.
func TestWriterProcess(t *testing.T) {
	path, dir := os.Getenv("LLMTOP_RECORD_TEST_PATH"), os.Getenv("LLMTOP_RECORD_TEST_STORE")
	var w *Writer
	var err error
	from, samples := 0, killedSamples()
	switch {
	case dir != "":
		if r, e := Open(dir); e == nil {
			from = r.Len()
			r.Close()
		}
		c := clockAt(samples[from].At)
		w, err = openStoreWriter(dir, Manifest{Interval: time.Second}, StoreOptions{FileLength: 7 * time.Second}, c.now, options{queue: queueSize, spool: spoolOf(dir, true)})
	case path != "":
		if w, err = Create(path, Manifest{Interval: time.Second}); errors.Is(err, ErrExists) {
			if w, err = Append(path, Manifest{Interval: time.Second}); err == nil {
				from = w.Before()
			}
		}
	default:
		t.Skip("runs as a process of TestKillNine…")
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("from %d\n", from)
	for i := from; i < len(samples); i++ {
		if err := w.Write(samples[i]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("written %d\n", i+1)
		if i == from+150 {
			io.Copy(io.Discard, os.Stdin) // far enough: until it is killed
		}
	}
}

// killed is what a writer said before it was killed.
type killed struct{ from, written int }

// writeAndKill starts a process that writes and kills it some microseconds after it said
// for the after-th time that a sample is written.
func writeAndKill(t *testing.T, env string, after int, more time.Duration) (k killed) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$", "-test.v")
	c.Env = append(os.Environ(), env)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	k.written = -1
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if n, ok := strings.CutPrefix(lines.Text(), "from "); ok {
			fmt.Sscan(n, &k.from)
			k.written = k.from
		}
		if n, ok := strings.CutPrefix(lines.Text(), "written "); ok {
			fmt.Sscan(n, &k.written)
		}
		if k.written == k.from+after {
			time.AfterFunc(more, func() { c.Process.Kill() }) // a moment of the write's, not a wait of the test's
			after = -1
		}
	}
	if c.Wait() == nil || k.written < 0 {
		t.Fatalf("the writer was not killed: it said %q", said)
	}
	return k
}

// TestKillNineOfAFile kills the writer of one file again and again; each goes on with
// what the one before left, and what it had written is there.
func TestKillNineOfAFile(t *testing.T) {
	killAll(t, func() string {
		path := filepath.Join(t.TempDir(), "killed.llmrec")
		killAgain(t, "LLMTOP_RECORD_TEST_PATH="+path, path)
		return path
	})
}

// TestKillNineOfAStore likewise; its files are seven samples long, so that many die
// while they begin the next.
func TestKillNineOfAStore(t *testing.T) {
	killAll(t, func() string {
		dir := filepath.Join(t.TempDir(), "store")
		killAgain(t, "LLMTOP_RECORD_TEST_STORE="+dir, dir)
		return dir
	})
}

func killAll(t *testing.T, some func() string) {
	for n := 0; n < *kills; n += killsEach {
		path := some()
		r := open(t, path)
		i := r.Info()
		if i.CleanClose || i.Manifest.PID == 0 {
			t.Errorf("info %+v", i)
		}
		assertAll(t, r, killedSamples()[:r.Len()])
		t.Logf("%d killed, %d samples, %d files", killsEach, i.Samples, i.Files)
	}
}

func killAgain(t *testing.T, env, path string) {
	rng := rand.New(rand.NewSource(time.Now().UnixNano()))
	there := 0
	for n := range killsEach {
		k := writeAndKill(t, env, rng.Intn(40), time.Duration(rng.Intn(300))*time.Microsecond)
		if k.from != there {
			t.Fatalf("writer %d went on after %d samples, %d are there", n, k.from, there)
		}
		r, err := Open(path)
		if err != nil && (!errors.Is(err, ErrEmpty) || k.written > 0) {
			t.Fatal(err)
		}
		if err != nil {
			continue // killed before the first byte
		}
		i, err := r.Verify(t.Context())
		r.Close()
		if err != nil || i.Samples < k.written || i.Damaged != 0 {
			t.Fatalf("writer %d wrote up to %d: %d are there, %d damaged, %v", n, k.written, i.Samples, i.Damaged, err)
		}
		there = i.Samples
	}
}
