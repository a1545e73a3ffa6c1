package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

var markTime = time.Date(2026, 3, 1, 0, 0, 5, 0, time.UTC)

func mark(t testing.TB, path, text string) (where string) {
	t.Helper()
	where, err := AddMark(path, markTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return where
}

func TestAMarkOnAClosedRecording(t *testing.T) {
	samples := newSmall().rich(20)
	path := write(t, samples)
	whole, _ := os.ReadFile(path)
	for name, b := range map[string][]byte{"closed": whole, "torn": whole[:len(whole)-500]} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if where := mark(t, path, fmt.Sprint("mark ", i)); where != "" {
				t.Errorf("%s: waits in %s", name, where)
			}
		}
		r := open(t, path)
		i := verified(t, r)
		if len(i.Marks) != 3 || i.Marks[2] != (Mark{markTime, "mark 2"}) || i.Damaged != 0 || !i.CleanClose || i.Samples < 15 {
			t.Errorf("%s: %+v", name, i)
		}
		assertAll(t, r, samples[:i.Samples])
		if err := goOn(t, path, later(3)).Close(); err != nil {
			t.Fatal(err)
		}
		assertAll(t, open(t, path), append(samples[:i.Samples:i.Samples], later(3)...))
	}
	if now, _ := os.ReadFile(write(t, samples)); len(now) == 0 {
		t.Error("nothing there")
	}
}

func TestAMarkOnARecordingThatIsBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.llmrec")
	f, err := createFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look := make(chan time.Time)
	w, err := newWriter(f, Manifest{}, options{queue: 10, spool: spoolOf(path, false), spoolTick: look})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(newTiny().next())
	spool := path + ".marks"
	if where := mark(t, path, "restarted"); where != spool {
		t.Errorf("it waits in %q", where)
	}
	mark(t, path, "with \x1b[31m http://me:hunter2@host Bearer hunter2hunter2")
	if info, err := os.Stat(spool); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("spool %v, %v", info, err)
	}
	if b, _ := os.ReadFile(spool); bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("the spool holds a secret: %s", b)
	}
	r := open(t, path)
	if i := r.Info(); len(i.Marks) != 2 || i.Marks[0] != (Mark{markTime, "restarted"}) {
		t.Errorf("while they wait: %+v", i.Marks)
	}
	look <- time.Time{}
	look <- time.Time{} // the first one is done with
	if _, err := os.Lstat(spool); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spool is still there: %v", err)
	}
	r = open(t, path)
	if i := r.Info(); len(i.Marks) != 2 || !strings.Contains(i.Marks[1].Text, "http://host") {
		t.Errorf("taken in: %+v", i.Marks)
	}
	mark(t, path, "at the end")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if i := open(t, path).Info(); len(i.Marks) != 3 || !i.CleanClose {
		t.Errorf("closed: %+v", i.Marks)
	}
	if _, err := os.Lstat(spool); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spool is still there: %v", err)
	}
}

// TestASpoolThatWasLeftBehind by a writer that was killed, perhaps after it had taken
// some of it in.
func TestASpoolThatWasLeftBehind(t *testing.T) {
	path := write(t, newTiny().rich(3))
	mark(t, path, "taken in")
	for _, text := range []string{"taken in", "left"} {
		if err := addToSpool(path+".marks", Mark{markTime, text}); err != nil {
			t.Fatal(err)
		}
	}
	if i := open(t, path).Info(); len(i.Marks) != 2 {
		t.Errorf("marks %+v", i.Marks)
	}
	if err := goOn(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if i := open(t, path).Info(); len(i.Marks) != 2 || i.Marks[1].Text != "left" {
		t.Errorf("marks %+v", i.Marks)
	}
}

func TestAMarkThatCannotBeWrittenWaits(t *testing.T) {
	spool := filepath.Join(t.TempDir(), "x.marks")
	d := newDisk()
	look := make(chan time.Time)
	w, err := newWriter(d, Manifest{}, options{queue: 10, spool: spool, spoolTick: look, syncTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	d.set(func(d *disk) { d.room, d.full = 3, os.ErrInvalid })
	if err := addToSpool(spool, Mark{markTime, "patience"}); err != nil {
		t.Fatal(err)
	}
	look <- time.Time{}
	look <- time.Time{}
	if len(spooled(spool)) != 1 {
		t.Error("the mark is lost")
	}
	d.set(func(d *disk) { d.room = -1 })
	w.Close()
	if i := d.reader(t).Info(); len(i.Marks) != 1 {
		t.Errorf("marks %+v", i.Marks)
	}
}

func TestMarksInAStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(40)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 10 * time.Second}, c)
	put(t, w, c, samples)
	if where := mark(t, dir, "while it is written"); where != filepath.Join(dir, "marks") {
		t.Errorf("it waits in %q", where)
	}
	w.Close()
	if where := mark(t, dir, "afterwards"); where != "" {
		t.Errorf("it waits in %q", where)
	}
	if i := verified(t, open(t, dir)); len(i.Marks) != 2 || i.Samples != 40 || i.Damaged != 0 {
		t.Errorf("info %+v", i)
	}
	first := open(t, filepath.Join(dir, namesIn(t, dir)[0]))
	if i := first.Info(); len(i.Marks) != 1 || i.Marks[0].Text != "afterwards" {
		t.Errorf("the file of that time has %+v", i.Marks)
	}
}

func TestMarksThatAreRefused(t *testing.T) {
	path := write(t, newTiny().rich(3))
	w, err := appendTo(path, Manifest{}, options{queue: 4}) // it looks for no marks
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(path + ".marks")
	if err := os.Symlink(target, path+".marks"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"through a link", "symbolic link"}, {" ", "needs a text"}, {"", "needs a text"}, {strings.Repeat("x", MaxMarkText+1), "at most"},
	} {
		if _, err := AddMark(path, markTime, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %q", c.text, err, c.want)
		}
	}
	if err := takeSpool(path+".marks", func([]Mark) error { return nil }); err == nil {
		t.Error("marks were taken through a link")
	}
	if b, _ := os.ReadFile(target); string(b) != "dear" {
		t.Errorf("the link's target holds %q", b)
	}
	if i := open(t, path).Info(); len(i.Marks) != 0 {
		t.Errorf("marks were read through a link: %v", i.Marks)
	}
	if _, err := AddMark(filepath.Join(t.TempDir(), "none"), markTime, "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no recording: %v", err)
	}
}

func TestASpoolIsBounded(t *testing.T) {
	spool := filepath.Join(t.TempDir(), "x.marks")
	text := strings.Repeat("long ", MaxMarkText/5)
	n, err := 0, error(nil)
	for ; err == nil && n < 10_000; n++ {
		err = addToSpool(spool, Mark{markTime, text})
	}
	if err == nil || !strings.Contains(err.Error(), "full") || n < 100 {
		t.Errorf("%d marks, then %v", n, err)
	}
	if err := os.WriteFile(spool, append(bytes.Repeat([]byte("{\"text\":\"\n"), 1000), "{\"at\":\"2026-03-01T00:00:00Z\",\"text\":\"good\"}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if marks := spooled(spool); len(marks) != 1 || marks[0].Text != "good" {
		t.Errorf("marks %v", marks)
	}
}

// TestLateTicksAreListed, also those of recordings whose writer did not say so.
func TestLateTicksAreListed(t *testing.T) {
	samples := newTiny().many(30)
	for i, s := range samples {
		c := *s
		if i >= 10 {
			c.Mono += 3 * time.Second
		}
		if i >= 20 {
			c.Mono += 2 * time.Second
			if i == 20 {
				c.Events = []probes.Event{{At: c.At, Kind: probes.EventLate, Text: "told"}, {At: c.At, Kind: probes.EventClockJump, Text: "jumped"}}
			}
		}
		samples[i] = &c
	}
	samples = append(samples[:5:5], samples[8:]...) // these were never written: not a late tick
	i := verified(t, open(t, write(t, samples)))
	if len(i.Events) != 2 || i.Events[0].Kind != probes.EventLate || i.Events[0].Count != 2 || i.Events[0].First[1].Text != "told" || i.Events[1].Count != 1 {
		t.Errorf("events %+v", i.Events)
	}
}
