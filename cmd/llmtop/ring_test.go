package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// incident drives incidents by samples a second apart, without any clock.
type incident struct {
	*incidents
	t   *testing.T
	seq int
}

func newIncident(t *testing.T, span, post time.Duration) *incident {
	t.Helper()
	o := ringOptions{span: span, post: post, dir: t.TempDir(), memory: 64 << 20, files: 100}
	return &incident{incidents: newIncidents(o, time.Second), t: t}
}

// pass lets seconds go by with this verdict; "" is healthy, a space is unmeasurable.
func (i *incident) pass(seconds int, cause string) {
	for range seconds {
		i.seq++
		at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(i.seq) * time.Second)
		s := &probes.Sample{Seq: uint64(i.seq), At: at, Mono: time.Duration(i.seq) * time.Second, Interval: time.Second}
		d := &rules.Diagnosis{Time: at, State: rules.Degraded, Causes: []rules.Cause{{ID: cause}}}
		switch cause {
		case "":
			d = &rules.Diagnosis{Time: at, State: rules.Healthy}
		case " ":
			d = &rules.Diagnosis{Time: at, State: rules.Unmeasurable}
		case "unknown":
			d = &rules.Diagnosis{Time: at, State: rules.Unknown}
		}
		i.observe(s, d, nil)
		for dump := i.dump; dump != nil && dump.Waiting() > 0 && !hasEnded(dump); { // hours pass faster here than a disk writes
			runtime.Gosched()
		}
	}
}

// files closes all and returns the names and what is in them.
func (i *incident) files() (names []string, infos []record.Info) {
	i.t.Helper()
	if _, err := i.close(); err != nil {
		i.t.Fatal(err)
	}
	paths, _ := filepath.Glob(i.o.dir + "/*")
	for _, path := range paths {
		r, err := record.Open(path)
		if err != nil {
			i.t.Fatal(err)
		}
		names, infos = append(names, filepath.Base(path)), append(infos, r.Info())
		r.Close()
	}
	return names, infos
}

// seconds is what a file spans, from and to the numbers of samples.
func seconds(info record.Info) (from, to int) {
	zero := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return int(info.Start.Sub(zero).Seconds()), int(info.End.Sub(zero).Seconds())
}

func TestARuleThatFiresWritesBeforeAndAfter(t *testing.T) {
	i := newIncident(t, time.Minute, 20*time.Second)
	i.pass(200, "")
	i.pass(100, "queue-backlog")
	names, infos := i.files()
	if len(names) != 1 || names[0] != "llmtop-20261130T120321Z-queue-backlog.llmrec" {
		t.Fatalf("files %q", names)
	}
	from, to := seconds(infos[0])
	if from > 201-60 || from < 201-60-15 || to != 221 || infos[0].Samples != to-from+1 {
		t.Errorf("from %d to %d, %d samples, want a minute before 201 and to 221", from, to, infos[0].Samples)
	}
	if m := infos[0].Marks; len(m) != 1 || m[0].Text != "rule queue-backlog fired" || !m[0].At.Equal(infos[0].End.Add(-20*time.Second)) {
		t.Errorf("marks %+v", m)
	}
}

func TestWhatFiresDuringAFileLetsItGoOn(t *testing.T) {
	i := newIncident(t, time.Minute, 20*time.Second)
	i.pass(100, "")
	i.pass(10, "kv-pressure")
	i.trigger("key", "key w")
	i.pass(19, "kv-pressure") // a second is left
	i.pass(30, "unknown")
	names, infos := i.files()
	if len(names) != 1 {
		t.Fatalf("files %q", names)
	}
	if _, to := seconds(infos[0]); to != 130+20 {
		t.Errorf("to %d, want --post after the last", to)
	}
	if m := infos[0].Marks; len(m) != 3 || m[1].Text != "key w" || m[2].Text != "rule unknown fired" {
		t.Errorf("marks %+v", m)
	}
}

// segment is how much more than its span a ring may hold.
const segment = time.Minute

// TestAFlappingVerdict: a verdict that comes and goes for hours makes a bounded number of
// files, each of bounded length, and no moment at which it fired is in none of them.
func TestAFlappingVerdict(t *testing.T) {
	const span, post, length = 6 * time.Minute, 2 * time.Minute, 2 * time.Hour
	for name, c := range map[string]struct{ healthy, bad int }{"faster than --post": {60, 45}, "slower": {90, 61}, "brief": {50, 1}} {
		t.Run(name, func(t *testing.T) {
			i := newIncident(t, span, post)
			var fired []int
			for i.seq < int(length.Seconds()) {
				i.pass(c.healthy, "")
				fired = append(fired, i.seq+1)
				i.pass(c.bad, "queue-backlog")
			}
			names, infos := i.files()
			if most := int(length/(post+span/2)) + 1; len(names) > most || len(names) < 2 {
				t.Errorf("%d files, want at most %d", len(names), most)
			}
			covered := map[int]bool{}
			for _, info := range infos {
				from, to := seconds(info)
				if to-from > int((span+segment+longest*post).Seconds())+1 {
					t.Errorf("a file of %d seconds", to-from)
				}
				for s := from; s <= to; s++ {
					covered[s] = true
				}
			}
			for _, s := range fired {
				if !covered[s] {
					t.Errorf("it fired at second %d: in no file", s)
				}
			}
		})
	}
}

// TestNothingToMeasureIsNoCause: an engine that hangs while degraded is not news when it is back.
func TestNothingToMeasureIsNoCause(t *testing.T) {
	i := newIncident(t, time.Minute, 0)
	i.pass(5, " ")
	i.pass(90, "kv-pressure")
	i.pass(90, " ")
	i.pass(90, "kv-pressure")
	if names, infos := i.files(); len(names) != 1 || infos[0].Samples != 6 {
		t.Errorf("files %q %+v", names, infos)
	}
}

func TestAKeyWritesAtOnce(t *testing.T) {
	i := newIncident(t, time.Minute, 20*time.Second)
	if got := i.trigger("key", "key w"); got != "nothing to keep yet" {
		t.Errorf("before any sample: %q", got)
	}
	i.pass(10, "")
	if got := i.trigger("key", "key w"); got != "keeping llmtop-20261130T120010Z-key.llmrec, for another 20s" {
		t.Errorf("%q", got)
	}
	i.pass(25, "")
	var f panes.Frame
	if i.describe(&f); f.Ring != "1m" || f.Recording != "" {
		t.Errorf("after it ended: %+v", f)
	}
	i.trigger("signal", "SIGUSR1")
	i.pass(3, "")
	if i.describe(&f); f.Recording != "llmtop-20261130T120035Z-signal.llmrec" || f.RecordingLeft != 17*time.Second || f.Unrecorded != "" {
		t.Errorf("while it is written: %+v", f)
	}
	names, infos := i.files()
	if len(names) != 2 || infos[0].Samples != 30 || infos[1].Samples != 38 || !infos[1].CleanClose {
		t.Errorf("%q %+v", names, infos)
	}
}

// written waits for the files to which nothing more is written.
func (i *incident) written() {
	for _, e := range i.ending {
		<-e.Ended()
	}
}

// TestNoMoreFilesThanAllowed: the folder's own count; nothing is deleted, and the ring goes on.
func TestNoMoreFilesThanAllowed(t *testing.T) {
	i := newIncident(t, time.Minute, 0)
	i.o.files = 1
	i.pass(10, "")
	i.trigger("key", "key w")
	i.written()
	i.pass(1, "")
	i.trigger("key", "key w")
	i.written()
	i.pass(1, "")
	var f panes.Frame
	if i.describe(&f); !strings.Contains(f.Unrecorded, "holds 1 incident files (--ring-files)") {
		t.Errorf("it says %q", f.Unrecorded)
	}
	if there, _ := os.ReadDir(i.o.dir); len(there) != 1 {
		t.Errorf("%d files", len(there))
	}
	os.Remove(filepath.Join(i.o.dir, "llmtop-20261130T120010Z-key.llmrec"))
	i.trigger("key", "key w")
	i.written()
	i.pass(1, "")
	if i.describe(&f); f.Unrecorded != "" {
		t.Errorf("with room again it says %q", f.Unrecorded)
	}
	if names, _ := i.files(); len(names) != 1 {
		t.Errorf("files %q", names)
	}
}

func TestIncidentNames(t *testing.T) {
	at := time.Date(2026, 11, 30, 13, 13, 14, 0, time.FixedZone("", 3600))
	for what, want := range map[string]string{
		"queue-backlog":          "llmtop-20261130T121314Z-queue-backlog.llmrec",
		"../../etc/passwd\x1b é": "llmtop-20261130T121314Z-------etc-passwd---.llmrec",
		strings.Repeat("a", 999): "llmtop-20261130T121314Z-" + strings.Repeat("a", 60) + ".llmrec",
	} {
		if got := incidentName(at, what); got != want {
			t.Errorf("%q: %q, want %q", what, got, want)
		}
	}
}

func TestShortSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{"15m": 15 * time.Minute, "1h30m": 90 * time.Minute, "10s": 10 * time.Second} {
		if got := shortSpan(d); got != want {
			t.Errorf("%s is %q", d, got)
		}
	}
}
