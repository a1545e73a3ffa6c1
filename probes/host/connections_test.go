package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

const socketHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

// socketLine is a line of /proc/net/tcp.
func socketLine(local, peer, state string, send, receive, retransmits, inode int) string {
	return fmt.Sprintf("%4d: %s %s %s %08X:%08X 00:00000000 %08X     0        0 %d 1 0000000000000000 20 4 30 10 -1\n", 0, local, peer, state, send, receive, retransmits, inode)
}

func readSockets(t *testing.T, s *Sockets) *probes.Sockets {
	t.Helper()
	section, err := s.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if section == nil {
		return nil
	}
	return section.(*probes.Sockets)
}

func TestSockets(t *testing.T) {
	some, none := probes.Some[float64], probes.None[float64](probes.NotExposed)
	at8000 := Engine{PID: 42, Endpoint: "http://127.0.0.1:8000", Addr: "127.0.0.1:8000"}
	at8001 := Engine{PID: 43, Endpoint: "http://[::1]:8001", Addr: "[::1]:8001"}
	inside := Engine{PID: 50, Endpoint: "http://127.0.0.1:8000#netns=2", Addr: "127.0.0.1:8000#netns=2"}
	socket := Engine{PID: 51, Endpoint: "unix:/run/a.sock", Addr: "unix:/run/a.sock"}
	const client = "0100007F:D431"
	ours := socketLine("0100007F:1F40", "00000000:0000", "0A", 0, 3, 0, 1) +
		socketLine("0100007F:1F40", client, "01", 0, 7, 0, 2) +
		socketLine("0100007F:1F40", "0200000A:D432", "01", 300, 0, 2, 3) +
		socketLine("0100007F:1F40", client, "06", 0, 0, 0, 0) + // TIME_WAIT
		socketLine(client, "0100007F:1F40", "01", 900, 900, 0, 4) + // the client's side
		socketLine("0100007F:1F41", client, "01", 50, 0, 0, 5)
	six := socketLine("00000000000000000000000001000000:1F41", "00000000000000000000000001000000:D433", "01", 20, 1, 0, 6) +
		"nonsense\n  1: x:1F40\n  2: 0100007F:1F40 y 01 zz:zz\n: :1F40 \x1b[31m\n"
	for _, c := range []struct {
		name    string
		engines []Engine
		want    probes.Sockets
	}{
		{"one engine", []Engine{at8000}, probes.Sockets{Connections: some(2), SendQueueBytes: some(300), RecvQueueBytes: some(7), Waiting: some(3), WaitingLimit: none,
			Full: []probes.Connection{{Endpoint: at8000.Endpoint, Peer: "10.0.0.2:54322", SendQueueBytes: 300, Retransmits: some(2), StuckSeconds: some(0)}}}},
		{"two, of both families", []Engine{at8000, at8001, socket}, probes.Sockets{Connections: some(4), SendQueueBytes: some(370), RecvQueueBytes: some(8), Waiting: some(3), WaitingLimit: none,
			Full: []probes.Connection{{Endpoint: at8000.Endpoint, Peer: "10.0.0.2:54322", SendQueueBytes: 300, Retransmits: some(2), StuckSeconds: some(0)},
				{Endpoint: at8001.Endpoint, Peer: "127.0.0.1:54321", SendQueueBytes: 50, Retransmits: some(0), StuckSeconds: some(0)},
				{Endpoint: at8001.Endpoint, Peer: "[::1]:54323", SendQueueBytes: 20, RecvQueueBytes: 1, Retransmits: some(0), StuckSeconds: some(0)}}}},
		{"in another namespace", []Engine{inside}, probes.Sockets{Connections: some(1), SendQueueBytes: some(0), RecvQueueBytes: some(0), Waiting: some(0), WaitingLimit: none}},
		{"behind a Unix socket", []Engine{socket}, probes.Sockets{Connections: none, SendQueueBytes: none, RecvQueueBytes: none, Waiting: none, WaitingLimit: none}},
		{"nobody known in the namespace", []Engine{{Endpoint: inside.Endpoint, Addr: inside.Addr}}, probes.Sockets{Connections: none, SendQueueBytes: none, RecvQueueBytes: none, Waiting: none, WaitingLimit: none}},
	} {
		m := newMachine(t)
		m.put("net/tcp", socketHead+ours)
		m.put("net/tcp6", socketHead+six)
		m.put("50/net/tcp", socketHead+socketLine("0100007F:1F40", client, "01", 0, 0, 0, 9)) // without IPv6
		got := readSockets(t, NewSockets(m.root, func() []Engine { return c.engines }))
		got.At = time.Time{}
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, *got, c.want)
		}
	}
	_, err := NewSockets("/", func() []Engine { return []Engine{{Endpoint: "http://gpu-7:8000"}} }).Read(context.Background())
	if !probes.IsLacking(err) {
		t.Errorf("an engine elsewhere: %v", err)
	}
}

// Two engines in one namespace, known by different processes, share its tables.
func TestSocketsOfOneNamespace(t *testing.T) {
	m := newMachine(t)
	for pid, port := range map[int]string{50: "8000", 51: "8001"} {
		m.process(pid, 2, "vllm "+port)
		m.put(fmt.Sprintf("%d/net/tcp", pid), socketHead+socketLine("0100007F:1F40", "0100007F:D431", "01", 5, 0, 0, 9)+socketLine("0100007F:1F41", "0100007F:D432", "01", 5, 0, 0, 10))
	}
	s := readSockets(t, NewSockets(m.root, func() []Engine {
		return []Engine{{PID: 50, Addr: "127.0.0.1:8000#pid=50"}, {PID: 51, Addr: "127.0.0.1:8001#netns=2"}}
	}))
	if s.Connections.Or(-1) != 2 || s.SendQueueBytes.Or(-1) != 10 {
		t.Errorf("got %+v", s)
	}
}

// What is on its way to a client far away is never empty and is no queue that nobody reads.
func TestOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		s := NewSockets(m.root, func() []Engine { return []Engine{{Addr: "127.0.0.1:8000"}} })
		line := func(inode, send, again int, timer string) string {
			text := socketLine("0100007F:1F40", "0200000A:9C40", "01", send, 0, again, inode)
			return strings.Replace(text, " 00:00000000 ", " "+timer+":00000015 ", 1)
		}
		for i := range 5 {
			m.put("net/tcp", socketHead+line(1, 2000, 0, "01")+line(2, 1000, 0, "04")+line(3, 500, 3, "01")+line(4, longQueue, 0, "01")+line(5, 30000, 0, "")+line(6, 100, 0, "02"))
			got := map[float64]float64{}
			for _, c := range readSockets(t, s).Full {
				got[c.SendQueueBytes] = c.StuckSeconds.Or(-1)
			}
			since := float64(2 * i)
			if want := map[float64]float64{2000: 0, 1000: since, 500: since, longQueue: since, 30000: 0, 100: 0}; !reflect.DeepEqual(got, want) {
				t.Errorf("after %v s: %v, want %v", since, got, want)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// The fullest are told, longest first, and since when their clients do not read.
func TestFullQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		s := NewSockets(m.root, func() []Engine { return []Engine{{Addr: "127.0.0.1:8000"}} })
		table := func(sizes ...int) {
			text := socketHead
			for i, n := range sizes {
				text += socketLine("0100007F:1F40", fmt.Sprintf("0200000A:%04X", 40000+i), "01", n, 0, 0, 100+i)
			}
			m.put("net/tcp", strings.ReplaceAll(text, " 00:00000000 ", " 04:00000015 "))
		}
		tell := func() string {
			var b strings.Builder
			for _, c := range readSockets(t, s).Full {
				fmt.Fprintf(&b, "%s %.0f %.0fs, ", strings.TrimPrefix(c.Peer, "10.0.0.2:"), c.SendQueueBytes, c.StuckSeconds.Or(-1))
			}
			return b.String()
		}
		for _, c := range []struct {
			sizes []int
			want  string
		}{
			{[]int{5, 0, 9}, "40002 9 0s, 40000 5 0s, "},
			{[]int{5, 1, 3}, "40000 5 2s, 40002 3 2s, 40001 1 0s, "},
			{[]int{5, 0, 3}, "40000 5 4s, 40002 3 4s, "},
			{[]int{5, 2, 0}, "40000 5 6s, 40001 2 0s, "},
			{[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "40009 10 0s, 40008 9 0s, 40007 8 0s, 40006 7 0s, 40005 6 0s, 40004 5 0s, 40003 4 0s, 40002 3 0s, "},
		} {
			table(c.sizes...)
			if got := tell(); got != c.want {
				t.Errorf("%v:\n got %s\nwant %s", c.sizes, got, c.want)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

func TestSocketsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		s := NewSockets(m.root, func() []Engine {
			time.Sleep(20 * time.Millisecond) // a dear look
			return []Engine{{Addr: "127.0.0.1:8000"}}
		})
		var read []int
		for second := range 13 {
			if readSockets(t, s) != nil {
				read = append(read, second)
			}
			time.Sleep(time.Second - time.Since(time.Now().Truncate(time.Second)))
		}
		if want := []int{0, 4, 8, 12}; !reflect.DeepEqual(read, want) {
			t.Errorf("read at %v, want %v", read, want)
		}
	})
}

// A connection of this machine whose other end does not read.
func TestSocketsHere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Skip("no loopback here: ", err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	waiting, err := net.Dial("tcp", l.Addr().String()) // never accepted
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	raw, err := server.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Write(func(fd uintptr) bool { // until the client's and the server's buffers are full
		for buf := make([]byte, 1<<16); ; {
			if _, err := syscall.Write(int(fd), buf); err != nil {
				return true
			}
		}
	})
	addr := l.Addr().String()
	s := readSockets(t, NewSockets("/", func() []Engine { return []Engine{{PID: os.Getpid(), Endpoint: "http://" + addr, Addr: addr}} }))
	if s.Connections.Or(0) < 1 || s.SendQueueBytes.Or(0) < 1<<16 || s.Waiting.Or(-1) != 1 || len(s.Full) != 1 || s.Full[0].Peer != client.LocalAddr().String() {
		t.Errorf("got %+v", s)
	}
	if limit, ok := s.WaitingLimit.Get(); ok && (limit < 1 || limit > 1<<20) || !ok && s.WaitingLimit.Why() != probes.NotExposed {
		t.Errorf("the backlog is %+v", s.WaitingLimit)
	}
}

func BenchmarkSockets(b *testing.B) {
	root := b.TempDir()
	text := socketHead
	for i := range 5000 {
		text += socketLine("0100007F:1F40", fmt.Sprintf("0200000A:%04X", 10000+i), "01", i%3, 0, 0, 100+i)
	}
	put(b, root, "proc/net/tcp", text)
	if err := os.MkdirAll(filepath.Join(root, "proc/self/ns"), 0o755); err != nil {
		b.Fatal(err)
	}
	s := NewSockets(root, func() []Engine { return []Engine{{Addr: "127.0.0.1:8000"}} })
	b.ReportAllocs()
	for b.Loop() {
		s.next = time.Time{}
		if _, err := s.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzSocketLine(f *testing.F) {
	f.Add([]byte(socketLine("0100007F:1F40", "0100007F:D431", "01", 5, 1, 2, 9)))
	f.Fuzz(func(t *testing.T, line []byte) {
		a := tally{stuck: map[uint64]time.Time{}}
		localPort(line)
		if a.line(line, "x"); a.open > 1 || a.send < 0 || len(a.full) > 1 || a.open+a.waiting > 1<<32 {
			t.Errorf("%q: %+v", line, a)
		}
	})
}
