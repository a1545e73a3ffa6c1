package host

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmtop/probes"
)

// machine is a /proc of invented processes.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T) machine {
	m := machine{t, t.TempDir()}
	m.link("self/ns/net", "net:[1]")
	m.link("self/ns/mnt", "mnt:[1]")
	m.put("net/tcp", "  sl  local_address rem_address   st\n")
	return m
}

func (m machine) put(path, body string) { put(m.t, m.root, "proc/"+path, body) }

func (m machine) link(path, target string) {
	m.t.Helper()
	path = filepath.Join(m.root, "proc", path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		m.t.Fatal(err)
	}
}

// process adds one in a network namespace with open sockets.
func (m machine) process(pid, netns int, argv string, inodes ...int) {
	dir := strconv.Itoa(pid)
	m.put(dir+"/cmdline", strings.ReplaceAll(argv, " ", "\x00")+"\x00")
	m.link(dir+"/ns/net", fmt.Sprintf("net:[%d]", netns))
	m.link(dir+"/ns/mnt", fmt.Sprintf("mnt:[%d]", netns))
	m.put(dir+"/status", "Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t0\t0\t0\t0\n")
	if err := os.MkdirAll(filepath.Join(m.root, "proc", dir, "fd"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	for i, inode := range inodes {
		m.link(fmt.Sprintf("%s/fd/%d", dir, i+3), fmt.Sprintf("socket:[%d]", inode))
	}
}

// table is a socket table of listening sockets: "0100007F:1F40 uid inode" each.
func table(sockets ...string) string {
	text := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	for i, s := range sockets {
		f := strings.Fields(s)
		text += fmt.Sprintf("%4d: %s 00000000:0000 0A 00000000:00000000 00:00000000 00000000 %5s        0 %s 1 0000000000000000 100 0 0 10 0\n", i, f[0], f[1], f[2])
	}
	return text
}

func isVLLM(argv []string) bool { return argv[0] == "vllm" }

// say puts what was found on lines.
func say(found []probes.Listener) []string {
	var out []string
	for _, l := range found {
		text := fmt.Sprintf("pid %d uid %d", l.PID, l.UID)
		switch {
		case l.Addr.IsValid():
			text = l.Addr.String() + " " + text
		case l.Path != "":
			text = l.Path + " " + text
		}
		if l.Other {
			text += fmt.Sprintf(" in %d", l.NetNS)
		}
		if l.Hidden {
			text += " hidden"
		}
		if l.Container != "" {
			text += " of " + l.Container
		}
		if len(l.Addresses) > 0 {
			text += fmt.Sprintf(" at %v", l.Addresses)
		}
		out = append(out, text)
	}
	return out
}

func TestListeners(t *testing.T) {
	m := newMachine(t)
	m.put("net/tcp", table("0100007F:1F40 1000 1042", "00000000:0016 0 1022", "00000000:1F90 33 1999"))
	m.put("net/tcp6", table("00000000000000000000000000000000:1F40 1000 1043"))
	m.put("net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01 2001 /run/vllm.sock\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01 2002 /run/dbus\n"+
		"0000000000000000: 00000003 00000000 00000000 0001 03 2003 /run/vllm.sock\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01 2004 @abstract\n")
	m.process(7, 1, "sshd", 1022)
	m.process(42, 1, "vllm serve m", 1042, 1043, 2001)
	m.process(43, 1, "vllm serve m", 1042) // a forked worker
	m.process(44, 1, "vllm serve loading")
	m.process(50, 9, "pause")
	m.put("51/net/tcp", table("00000000:1F40 0 3001"))
	m.put("51/net/fib_trie", "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 172.17.0.2\n        /32 host LOCAL\n     |-- 172.17.255.255\n        /32 link BROADCAST\nLocal:\n     |-- 172.17.0.2\n        /32 host LOCAL\n")
	m.process(51, 9, "vllm serve in a container", 3001)
	m.put("51/cgroup", "0::/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n")
	m.put("60/stat", "60 (kthreadd) S 2 0\n") // a thread of the kernel
	m.put("60/cmdline", "")
	got := say(Listeners(t.Context(), m.root, isVLLM))
	want := []string{
		"127.0.0.1:8000 pid 42 uid 1000", "0.0.0.0:22 pid 7 uid 0", "0.0.0.0:8080 pid 0 uid 33", "[::]:8000 pid 42 uid 1000",
		"/run/vllm.sock pid 42 uid 1000",
		"0.0.0.0:8000 pid 51 uid 0 in 9 of 0123456789ab at [172.17.0.2]",
		"pid 44 uid 1000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if again := say(Listeners(t.Context(), m.root, isVLLM)); !slices.Equal(again, got) {
		t.Errorf("another order: %q", again)
	}
}

// An ordinary user sees the sockets and command lines of others, not whose sockets they are.
func TestListenersOfOthers(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root sees everything: what is hidden is simulated by links that are not there")
	}
	m := newMachine(t)
	m.put("net/tcp", table("0100007F:1F40 1000 1042"))
	m.process(42, 1, "vllm serve ours")
	m.process(43, 1, "vllm serve theirs")
	m.put("42/net/tcp", table("0100007F:1F40 1000 1042"))
	m.put("43/net/tcp", table("0100007F:1F40 1000 3042"))
	l := &look{proc: filepath.Join(m.root, "proc"), at: map[uint64]int{}, own: 1, seen: map[uint64]bool{1: true}}
	l.tables(t.Context(), l.proc+"/net", probes.Listener{})
	list := l.processes(isVLLM)
	for _, p := range list {
		l.hidden(t.Context(), p)
		p.hidden = true
	}
	want := []string{"127.0.0.1:8000 pid 0 uid 1000", "127.0.0.1:8000 pid 0 uid 1000 in 0",
		"pid 42 uid 1000 hidden", "pid 43 uid 1000 in 0 hidden"}
	if got := say(l.listeners(list)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Processes end while they are read, their files cannot be read, and what they say is not to be trusted.
func TestListenersOfAHostileHost(t *testing.T) {
	m := newMachine(t)
	m.put("net/tcp", table("0100007F:1F40 1000 1042", "nonsense 0 1", "0100007F:1F41 x 1043", "0100007F:1F42 0 0")+"\n\x00\x1b[31m\n"+strings.Repeat("x", 100))
	m.put("40/cmdline", strings.Repeat("vllm\x00", 50_000))
	m.put("41/cmdline", "vllm\x00\x1b[2J\n\x00\xff\xfe")
	m.put("42/cmdline", "\x00\x00\x00")
	m.put("43/comm", "gone\n")
	m.put("44/cmdline", "vllm\x00serve")
	m.link("44/ns/net", "net:[nonsense]")
	m.link("44/fd/3", "socket:[nonsense]")
	m.link("44/fd/4", "socket:[1042]")
	m.link("45/cmdline", "/nowhere")
	m.link("45/ns/net", "/nowhere")
	if err := os.MkdirAll(filepath.Join(m.root, "proc/46/cmdline"), 0o755); err != nil {
		t.Fatal(err)
	}
	found := Listeners(t.Context(), m.root, isVLLM)
	for _, l := range found {
		total := 0
		for _, arg := range l.Argv {
			total += len(arg) + 1
		}
		if total > maxLine+1 {
			t.Errorf("%d bytes of a command line of pid %d", total, l.PID)
		}
	}
	if len(found) != 4 || found[0].PID != 44 || found[1].Addr != netip.MustParseAddrPort("127.0.0.1:8001") || found[1].UID != -1 {
		t.Errorf("got\n%s", strings.Join(say(found), "\n"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Listeners(ctx, m.root, isVLLM) // ends, with whatever
	if got := Listeners(t.Context(), t.TempDir(), isVLLM); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestListenersOfThisMachine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback here:", err)
	}
	defer l.Close()
	for _, got := range Listeners(t.Context(), "/", func([]string) bool { return false }) {
		if got.Addr.String() == l.Addr().String() {
			if got.PID != os.Getpid() || got.UID != os.Geteuid() || got.Other || !slices.Equal(got.Argv, os.Args) {
				t.Errorf("got %+v", got)
			}
			return
		}
	}
	t.Errorf("%s is not among them", l.Addr())
}

func TestPIDOfElsewhere(t *testing.T) {
	m := newMachine(t)
	m.put("net/unix", "Num\n0000000000000000: 00000002 00000000 00010000 0001 01 2001 /run/vllm.sock\n")
	m.process(41, 1, "vllm", 2001)
	m.process(50, 9, "pause")
	m.put("50/net/tcp", table("00000000:1F40 0 3001"))
	m.process(51, 9, "vllm", 3001)
	m.put("51/net/tcp", table("00000000:1F40 0 3001"))
	for addr, want := range map[string]int{
		"unix:/run/vllm.sock": 41, "127.0.0.1:8000#netns=9": 51, "172.17.0.2:8000#pid=51": 51, "127.0.0.1:8001#netns=9": 0,
		"127.0.0.1:8000#netns=8": 0, "127.0.0.1:8000#pid=x": 0, "unix:/run/other": 0, "127.0.0.1:8000": 0,
	} {
		if got, err := pidOf(m.root, addr); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: got %d, %v, want %d", addr, got, err, want)
		}
	}
}
