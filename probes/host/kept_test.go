package host

import (
	"strings"
	"testing"
)

func TestKept(t *testing.T) {
	root := t.TempDir()
	long := strings.Repeat("x", 20<<10)
	put(t, root, "a", "one\n")
	put(t, root, "long", long)
	for _, room := range []int{0, 1} {
		r := newReader()
		r.room = room
		k := &kept{path: root + "/a"}
		for _, want := range []string{"one\n", "two\n"} {
			put(t, root, "a", want)
			if got, err := r.line(k); err != nil || string(got) != want {
				t.Errorf("room for %d: got %q, %v, want %q", room, got, err, want)
			}
		}
		if k.open != (room > 0) || r.room != 0 {
			t.Errorf("room for %d: open %v, room now %d", room, k.open, r.room)
		}
		if got, err := r.whole(root + "/long"); err != nil || string(got) != long {
			t.Errorf("of %d bytes read %d, %v", len(long), len(got), err)
		}
		if r.close(k); r.room != room || k.open {
			t.Errorf("closed, room for %d of %d", r.room, room)
		}
		if _, err := r.line(&kept{path: root + "/none"}); why(err).String() != "not exposed" || r.room != room {
			t.Errorf("of no file: %v", err)
		}
	}
}
