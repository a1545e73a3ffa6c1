package host

import (
	"strings"
	"testing"

	"llmtop/probes"
)

// Paths of Unix sockets have blanks and brackets in them, are relative to where the process
// stands, or to a root of its own.
func TestPathsOfUnixSockets(t *testing.T) {
	m := newMachine(t)
	m.put("net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01    41 /tmp/a b[red]%41  c.sock\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01  2042 rel.sock\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01  2043 /run/e.sock\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01  2044 rel.sock\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01  2045 @abstract name\n"+
		"0000000000000000: 00000002 00000000 00010000 0001 01  2046\n"+
		"0000000000000000: 00000002\n")
	m.link("self/root", "/")
	for pid, inode := range map[int]int{41: 41, 42: 2042, 43: 2043, 45: 2045, 46: 2046} {
		m.process(pid, 1, "vllm serve m", inode)
	}
	m.link("42/cwd", "/srv/vllm")
	m.link("43/root", "/srv/jail")
	m.process(44, 9, "vllm serve m", 2044)
	got := map[int]string{}
	for _, l := range Listeners(t.Context(), m.root, isVLLM) {
		if l.Path != "" {
			got[l.PID] = strings.TrimPrefix(l.Path, m.root)
		}
	}
	want := map[int]string{41: "/tmp/a b[red]%41  c.sock", 42: "/srv/vllm/rel.sock", 43: "/proc/43/root/run/e.sock", 44: "/proc/44/cwd/rel.sock"}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for pid, path := range want {
		if got[pid] != path {
			t.Errorf("%d: got %q, want %q", pid, got[pid], path)
		}
	}
	for _, name := range []string{"unix:/tmp/a b.sock", "unix:/tmp/a%41[x].sock"} {
		if e, err := probes.ParseEndpoint(name); err != nil || "unix:"+e.Socket() != name {
			t.Errorf("%s: got %q, %v", name, e.Socket(), err)
		}
	}
}
