package host

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sockets is the tree of sockets.txtar with the processes that hold them open.
func sockets(t *testing.T) string {
	t.Helper()
	root := tree(t, "sockets.txtar")
	for pid, inode := range map[int]string{42: "1042", 43: "1043", 44: "1044", 45: "1045", 7: "1007", 8: "1007", 9: "5"} {
		dir := filepath.Join(root, "proc", strconv.Itoa(pid), "fd")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for fd, target := range []string{"/dev/null", "pipe:[1042]", "socket:[" + inode + "]"} {
			if err := os.Symlink(target, filepath.Join(dir, strconv.Itoa(fd))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestPIDOf(t *testing.T) {
	root := sockets(t)
	cases := []struct {
		addr string
		want int
		err  string
	}{
		{"127.0.0.1:8000", 42, ""},
		{"localhost:8000", 42, ""},
		{":8000", 42, ""},
		{"0.0.0.0:8000", 42, ""},
		{"127.0.0.1:8001", 43, ""},
		{"127.0.0.1:8002", 44, ""},
		{"[::1]:8003", 45, ""},
		{"localhost:8003", 45, ""},
		{"127.0.0.1:8005", 7, ""},
		{"127.0.0.2:8000", 0, "no process of this machine (or of this container) listens on 127.0.0.2:8000"},
		{"127.0.0.1:8006", 0, "no process of this machine (or of this container) listens on 127.0.0.1:8006"},
		{"127.0.0.1:8004", 0, "something listens on 127.0.0.1:8004, but no process seen from here holds it"},
		{"192.0.2.7:8000", 0, "192.0.2.7 is not an address of this machine"},
		{"gpu-7:8000", 0, `host "gpu-7" is a name, not an address of this machine`},
		{"127.0.0.1", 0, `address "127.0.0.1" is not host:port`},
		{"127.0.0.1:http", 0, `address "127.0.0.1:http" has no numeric port`},
	}
	for _, c := range cases {
		got, err := pidOf(root, c.addr)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: got %d, %v; want %d, %s", c.addr, got, err, c.want, c.err)
		}
	}
}

// What forwards a container's port is not its engine.
func TestPIDOfAForwardedPort(t *testing.T) {
	root := sockets(t)
	put(t, root, "proc/43/cmdline", "/usr/bin/docker-proxy\x00-host-port\x008001\x00")
	pid, err := pidOf(root, "127.0.0.1:8001")
	if pid != 0 || err == nil || !strings.Contains(err.Error(), "docker-proxy listens on 127.0.0.1:8001 for a container") {
		t.Errorf("got %d, %v", pid, err)
	}
}

func TestPIDOfWithoutProc(t *testing.T) {
	if _, err := pidOf(t.TempDir(), "127.0.0.1:8000"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestPIDOfThisProcess(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback here:", err)
	}
	defer l.Close()
	pid, err := PIDOf(l.Addr().String())
	if err != nil || pid != os.Getpid() {
		t.Errorf("got %d, %v; want %d", pid, err, os.Getpid())
	}
}

func TestSocketAddr(t *testing.T) {
	for text, want := range map[string]string{
		"0100007F:1F40":                         "127.0.0.1:8000",
		"00000000000000000000000001000000:0050": "[::1]:80",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80",
	} {
		if got, ok := socketAddr(text); !ok || got.String() != want {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", ":", "0100007F", "0100007F:zz", "01007F:1F40", "0100:1F40"} {
		if got, ok := socketAddr(text); ok {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestPIDOfAnotherUsersProcess(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root sees everything")
	}
	root := sockets(t)
	if err := os.Chmod(filepath.Join(root, "proc/42/fd"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "proc/42/fd"), 0o755) }) // else it cannot be removed
	if _, err := pidOf(root, "127.0.0.1:8000"); err == nil || !strings.Contains(err.Error(), "needs root or CAP_SYS_PTRACE") {
		t.Errorf("got %v", err)
	}
}
