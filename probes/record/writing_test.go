package record

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.llmrec")
	first, err := Create(path, Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	link := filepath.Join(dir, "link.llmrec")
	dangling := filepath.Join(dir, "dangling.llmrec")
	if os.Symlink(path, link) != nil || os.Symlink(filepath.Join(dir, "nothing"), dangling) != nil {
		t.Fatal("no symbolic links here")
	}
	refused := func(path, want string) {
		t.Helper()
		w, err := Create(path, Manifest{})
		if err == nil {
			w.Close()
			t.Fatalf("%s: created", path)
		}
		if !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q and ErrExists", err, want)
		}
	}
	refused(path, "process "+itoa(os.Getpid())+" is writing it")
	refused(link, "symbolic link")
	refused(dangling, "symbolic link")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	refused(path, "never overwritten")
	if _, err := Create(filepath.Join(dir, "none", "a.llmrec"), Manifest{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if err := first.Write(new(probes.Sample)); err == nil {
		t.Error("a closed writer took a sample")
	}
	if err := first.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closing twice: %v", err)
	}
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.llmrec")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{empty: "the file is empty", dir: "holds no recordings", dir + "/none": "no such file", os.DevNull: "not a regular file"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestFindingsAndMarks(t *testing.T) {
	d := newDisk()
	w, err := newWriter(d, Manifest{Version: "1", Interval: time.Second}, options{queue: 100, syncTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	samples := newSmall().rich(20)
	for i, s := range samples {
		var f *Finding
		if i%5 == 0 {
			f = &Finding{At: s.At, State: "degraded", Cause: "queue-backlog", Line: "line", Detail: json.RawMessage(`{"n":` + itoa(i) + `}`)}
		}
		w.Write(s, f)
	}
	w.Mark(samples[19].At, "restarted \x1b[31mthe engine")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := d.reader(t)
	for i := range samples {
		got, err := r.FindingsAt(i)
		if err != nil {
			t.Fatal(err)
		}
		if want := i%5 == 0; (len(got) == 1) != want {
			t.Fatalf("sample %d: %d findings", i, len(got))
		} else if want && (string(got[0].Detail) != `{"n":`+itoa(i)+`}` || got[0].Cause != "queue-backlog") {
			t.Errorf("sample %d: %+v", i, got[0])
		}
	}
	info := r.Info()
	if info.Findings != 4 || len(info.Marks) != 1 || info.Marks[0].Text != "restarted  [31mthe engine" {
		t.Errorf("findings %d, marks %+v", info.Findings, info.Marks)
	}
	if len(info.Engines) != 1 || info.Engines[0] != "http://127.0.0.1:8000" || info.Manifest.Version != "1" || info.Interval != time.Second {
		t.Errorf("info %+v", info)
	}
}

func TestIndexFindsTheSampleOfATime(t *testing.T) {
	samples := newSmall().rich(3 * groupSize)
	r, err := newReader(memory(recorded(t, samples)), true)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		for d, want := range map[time.Duration]int{0: i, 1: i, -1: max(0, i-1)} {
			if got := r.Index(s.At.Add(d)); got != want {
				t.Fatalf("%v from sample %d: %d, want %d", d, i, got, want)
			}
		}
	}
	if got := r.Index(samples[0].At.Add(-time.Hour)); got != 0 {
		t.Errorf("before the start: %d", got)
	}
	if got := r.Index(samples[len(samples)-1].At.Add(time.Hour)); got != len(samples)-1 {
		t.Errorf("after the end: %d", got)
	}
	r.Seek(40)
	if s, err := r.Next(context.Background()); err != nil || s.Seq != 41 {
		t.Errorf("after seeking 40: %v, %v", s, err)
	}
	if _, err := r.At(len(samples)); err == nil {
		t.Error("At beyond the end")
	}
}

func TestTwoReadersOfOneFile(t *testing.T) {
	samples := newSmall().rich(20)
	path := write(t, samples)
	a, b := open(t, path), open(t, path)
	for i := range samples {
		x, err := a.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.At(len(samples) - 1 - i)
		if err != nil {
			t.Fatal(err)
		}
		assertSame(t, x, samples[i])
		assertSame(t, y, samples[len(samples)-1-i])
	}
}

func TestSecretsAreNotStored(t *testing.T) {
	const secret = "hunter2hunter2"
	s := newSmall().next()
	s.Scrapes[0].Endpoint = "http://user:" + secret + "@10.0.0.1:8000/metrics?token=" + secret
	s.Requests[0].Endpoint = "http://user:" + secret + "@10.0.0.1:8000"
	s.Probes[0].Err = `Get "http://user:` + secret + `@10.0.0.1/metrics?api_key=` + secret + `": refused, sent Authorization: Bearer ` + secret
	s.Events = []probes.Event{{At: s.At, Kind: "x", Text: "authorization=" + secret + " Bearer " + secret}}
	d := newDisk()
	m := Manifest{Command: []string{"llmtop", "http://u:" + secret + "@h", "api-key=" + secret}, Facts: map[string]string{"api_key": secret}}
	w, err := newWriter(d, m, options{queue: 4, syncTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(s, &Finding{At: s.At, Line: "Bearer " + secret, Detail: json.RawMessage(`{"authorization": "` + secret + `", "next":["curl http://u:` + secret + `@h"]}`)})
	w.Mark(s.At, "http://u:"+secret+"@h")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range recordsOf(t, d.data) {
		payload := r.payload
		if r.kind == typeSchema || r.kind == typeFrame { // skip what precedes the packed part
			for i := range payload {
				if b, err := newUnpacker().unpack(payload[i:], r.flags); err == nil && r.flags&flagZstd != 0 {
					payload = b
					break
				}
			}
		} else if b, err := newUnpacker().unpack(payload, r.flags); err == nil {
			payload = b
		}
		if strings.Contains(string(payload), "hunter2") {
			t.Errorf("record of type %d holds the secret: %q", r.kind, payload)
		}
	}
	got := read(t, d.reader(t))[0]
	if e := got.Requests[0].Endpoint; e != "http://10.0.0.1:8000" {
		t.Errorf("endpoint %q", e)
	}
}
