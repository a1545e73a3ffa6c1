package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"llmtop/panes"
)

// blocked makes a folder in which no file may be begun; free lifts that.
func blocked(t *testing.T, i *incident) (free func()) {
	t.Helper()
	path := filepath.Join(i.o.dir, "llmtop-in-the-way.llmrec")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	i.o.files = 1
	return func() { os.Remove(path) }
}

// settled passes seconds of a verdict; whatever is done with the disk behind is over after each.
func (i *incident) settled(seconds int, cause string) {
	for range seconds {
		i.pass(1, cause)
		for i.behind() {
			runtime.Gosched()
		}
	}
}

func (i *incident) behind() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	begins := i.dump != nil && i.dump.Stats().Samples == 0 && !hasEnded(i.dump)
	return i.ahead.looking || begins || len(i.ending) > 0 && !hasEnded(i.ending[0].Dump)
}

func (i *incident) unrecorded() string {
	var f panes.Frame
	i.describe(&f)
	return f.Unrecorded
}

// TestAnIncidentOnAFullDiskIsKeptLater: with the moment, once there is room, and it is
// said until then.
func TestAnIncidentOnAFullDiskIsKeptLater(t *testing.T) {
	for _, what := range []string{"rule", "key", "nothing after it"} {
		t.Run(what, func(t *testing.T) {
			i := newIncident(t, time.Minute, 20*time.Second)
			var said []string
			i.log = func(format string, a ...any) { said = append(said, fmt.Sprintf(format, a...)) }
			if what == "nothing after it" {
				i.o.post = 0
			}
			free := blocked(t, i)
			i.settled(90, "")
			if what == "key" {
				i.trigger("key", "key w")
				i.settled(30, "")
			} else {
				i.settled(30, "kv-pressure")
			}
			if why := i.unrecorded(); !strings.Contains(why, "1 incident files") {
				t.Errorf("the screen says %q", why)
			}
			free()
			i.settled(30, "")
			if why := i.unrecorded(); why != "" {
				t.Errorf("there is room again, and the screen says %q", why)
			}
			names, infos := i.files()
			if len(names) != 1 {
				t.Fatalf("files %q, said %q", names, said)
			}
			if from, to := seconds(infos[0]); from > 91-25 || to < 120 || infos[0].Samples != to-from+1 {
				t.Errorf("%d to %d, %d samples: the moment was at 91", from, to, infos[0].Samples)
			}
			if n := strings.Count(strings.Join(said, "\n"), "NOT KEPT"); n != 1 {
				t.Errorf("said %d times: %q", n, said)
			}
		})
	}
}

// TestAMomentThatIsOver is not kept late: the ring has forgotten it.
func TestAMomentThatIsOver(t *testing.T) {
	i := newIncident(t, time.Minute, 20*time.Second)
	free := blocked(t, i)
	i.settled(30, "")
	i.settled(5, "kv-pressure")
	i.settled(200, "")
	free()
	i.settled(100, "")
	if names, _ := i.files(); len(names) != 0 {
		t.Errorf("files %q", names)
	}
	if why := i.unrecorded(); why != "" {
		t.Errorf("there is room again, and the screen says %q", why)
	}
}

// TestAStormOfSignals is one mark a sample.
func TestAStormOfSignals(t *testing.T) {
	i := newIncident(t, time.Minute, 20*time.Second)
	i.settled(30, "")
	for range 10000 {
		i.trigger("signal", "SIGUSR1")
	}
	i.settled(1, "")
	for range 10000 {
		i.trigger("signal", "SIGUSR1")
	}
	i.settled(30, "")
	if _, infos := i.files(); len(infos) != 1 || len(infos[0].Marks) != 3 {
		t.Errorf("%+v", infos)
	}
}
