package host

import (
	"context"
	"os"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

// found are the file systems that are looked at in a tree, by mount, the engines' marked.
func found(root string, engines ...int) (mounts []string) {
	var f filesystems
	f.find(root, engines)
	for _, fs := range f.list {
		mount := fs.mount
		if fs.engine {
			mount = "engine " + mount
		}
		mounts = append(mounts, mount)
	}
	return mounts
}

func TestFilesystems(t *testing.T) {
	root := tree(t, "host.txtar")
	if got, want := found(root), []string{"/", "/dev/shm"}; !slices.Equal(got, want) { // /tmp is in /
		t.Errorf("got %q, want %q", got, want)
	}
	// One engine runs on the host in a file system of its own, one in a container.
	put(t, root, "proc/42/mountinfo", "26 1 254:0 / / rw - ext4 /dev/vda rw\n24 23 0:22 / /dev/shm rw - tmpfs tmpfs rw\n27 26 0:50 / /models\\040of\\134us rw - nfs server:/x rw\n")
	symlink(t, root, "/models of\\us/llama", "proc/42/cwd")
	put(t, root, "proc/43/mountinfo", "1 0 0:60 / / rw - overlay overlay rw\n2 1 0:61 / /dev/shm rw - tmpfs shm rw\n3 1 0:62 / /tmp rw - tmpfs tmpfs rw\n4 3 0:63 / /tmp rw - tmpfs tmpfs rw\nx\n")
	symlink(t, root, "/app", "proc/43/cwd")
	want := []string{"/", "/dev/shm", `engine /models of\us`, "engine /tmp", "engine /dev/shm", "engine /"}
	if got := found(root, 42, 43, 42, 99); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The working directory of another user's process is not to be seen: that is told once.
func TestFilesystemThatIsHidden(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may see all")
	}
	h := readAgain(t, patient("/", 1))
	want := probes.Filesystem{Engine: true, TotalBytes: noPermission, FreeBytes: noPermission}
	if n := len(h.Filesystems); n == 0 || !reflect.DeepEqual(h.Filesystems[n-1], want) {
		t.Errorf("%+v", h.Filesystems)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		t.Fatal(err)
	}
	got := usageOf(context.Background(), filesystem{mount: "/x", path: dir})
	if got.Mount != "/x" || got.TotalBytes.Or(0) != float64(stat.Blocks)*float64(stat.Bsize) || !got.FreeBytes.Seen() {
		t.Errorf("%+v", got)
	}
	if got := usageOf(context.Background(), filesystem{mount: "/x", path: dir + "/none"}); got.TotalBytes != notExposed || got.FreeBytes != notExposed {
		t.Errorf("of none: %+v", got)
	}
}

// A file server that is gone leaves the others alone, is asked by one goroutine only, and
// again when it is back, even when the engine left and came back meanwhile.
func TestFilesystemThatHangs(t *testing.T) {
	began := time.Now()
	dead := &aside[probes.Filesystem]{patience: time.Hour, out: make(chan probes.Filesystem, 1), began: began}
	f := filesystems{patience: time.Hour, asked: map[string]*aside[probes.Filesystem]{"0:50": dead}}
	here, server := filesystem{device: "1:1", mount: "/", path: t.TempDir()}, filesystem{device: "0:50", mount: "/models", path: "/"}
	late := began.Add(time.Hour)
	for _, list := range [][]filesystem{{here, server}, {here}, {here, server}} {
		f.list = list
		got := f.usage(context.Background(), late)
		if len(got) != len(list) || !got[0].TotalBytes.Seen() {
			t.Errorf("%+v", got)
		}
		if len(list) == 2 && got[1] != (probes.Filesystem{Mount: "/models", TotalBytes: stale, FreeBytes: stale}) {
			t.Errorf("of the dead server: %+v", got[1])
		}
		if f.asked["0:50"] != dead || !dead.hangs() {
			t.Error("it is asked a second time")
		}
	}
	dead.out <- probes.Filesystem{Mount: "/models", TotalBytes: made(1)}
	if got := f.usage(context.Background(), late); got[1].TotalBytes.Or(0) <= 1 {
		t.Errorf("back again: %+v", got[1])
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{{"/a/b", "/", true}, {"/", "/", true}, {"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}} {
		if got := within(c.path, c.dir); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.dir, got)
		}
	}
	for text, want := range map[string]string{`/a\040b`: "/a b", `/a\13`: `/a\13`, `/\134\011`: "/\\\t", `/a\999`: `/a\999`, `\777`: `\777`} {
		if got := unescaped([]byte(text)); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
