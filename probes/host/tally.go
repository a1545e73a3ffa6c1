package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"llmtop/probes"
)

const (
	maxFull   = 8    // connections told
	maxStuck  = 4096 // connections of which it is known since when they are stuck
	stateOpen = "01" // established

	// What an answer that is streamed has on its way is a few KiB even to a client on another
	// continent: its tokens a second times the round trip. A queue of longQueue is none of that.
	longQueue   = 32 << 10
	timerProbes = "04" // the peer's window is closed: the kernel asks now and then whether it opens
)

// tally is what is counted in a look at the socket tables.
type tally struct {
	now           time.Time
	before, stuck map[uint64]time.Time // by inode

	open, send, receive, waiting float64
	full                         []probes.Connection
}

// read counts the connections of a network.
func (t *tally) read(ctx context.Context, n *network) error {
	for _, table := range []string{"/tcp", "/tcp6"} {
		err := eachLine(ctx, n.dir+table, func(line []byte) bool {
			if endpoint, ours := n.ports[localPort(line)]; ours {
				t.line(line, endpoint)
			}
			return true
		})
		if err != nil && (table == "/tcp" || !errors.Is(err, os.ErrNotExist)) { // a kernel may have no IPv6
			return fmt.Errorf("reading the engine's connections: %w", err)
		}
	}
	return nil
}

// localPort is the port of this side in a line of the table, 0 in one that is none. Of a
// host's thousands of lines most are of others: nothing else of them is read.
func localPort(line []byte) uint16 {
	_, rest, _ := bytes.Cut(line, []byte(": "))
	_, rest, found := bytes.Cut(rest, []byte(":"))
	if !found || len(rest) < 4 {
		return 0
	}
	port, err := strconv.ParseUint(string(rest[:4]), 16, 16)
	if err != nil {
		return 0
	}
	return uint16(port)
}

// line counts a line of the table: sl, local and remote address, state, "send:receive"
// queue, timer, retransmits, user, timeout, inode.
func (t *tally) line(line []byte, endpoint string) {
	var f [10][]byte
	for i := range f {
		line = bytes.TrimLeft(line, " ")
		f[i], line, _ = bytes.Cut(line, []byte(" "))
	}
	out, in, _ := bytes.Cut(f[4], []byte(":"))
	send, err := strconv.ParseUint(string(out), 16, 32)
	receive, err2 := strconv.ParseUint(string(in), 16, 32)
	switch {
	case err != nil || err2 != nil:
	case string(f[3]) == stateListen: // the kernel puts here how many wait
		t.waiting += float64(receive)
	case string(f[3]) == stateOpen:
		t.open++
		t.send += float64(send)
		t.receive += float64(receive)
		if send > 0 {
			t.connection(f, endpoint, float64(send), float64(receive))
		}
	}
}

// connection keeps one of those that are told.
func (t *tally) connection(f [10][]byte, endpoint string, send, receive float64) {
	inode, err := strconv.ParseUint(string(f[9]), 10, 64)
	if err != nil {
		return
	}
	stuck := probes.Some(0.0)
	timer, _, _ := bytes.Cut(f[5], []byte(":"))
	again, err := strconv.ParseUint(string(f[6]), 16, 32)
	switch {
	case send < longQueue && string(timer) != timerProbes && again == 0: // on its way
	case inode == 0 || len(t.stuck) >= maxStuck: // 0: not accepted yet
		stuck = probes.None[float64](probes.Unsupported)
	default:
		since, known := t.before[inode]
		if !known {
			since = t.now
		}
		t.stuck[inode] = since
		stuck = probes.Some(t.now.Sub(since).Seconds())
	}
	at, _ := slices.BinarySearchFunc(t.full, send, func(a probes.Connection, send float64) int { return cmp.Compare(send, a.SendQueueBytes) })
	if at >= maxFull {
		return
	}
	peer, ok := socketAddr(string(f[2]))
	if !ok {
		return
	}
	c := probes.Connection{Endpoint: endpoint, Peer: peer.String(), SendQueueBytes: send, RecvQueueBytes: receive, StuckSeconds: stuck}
	if err == nil {
		c.Retransmits = probes.Some(float64(again))
	}
	t.full = slices.Insert(t.full, at, c)
	t.full = t.full[:min(len(t.full), maxFull)]
}

// fill writes what was counted into a section; seen says whether there was a table to count in.
func (t *tally) fill(s *probes.Sockets, seen bool) {
	if !seen {
		none := probes.None[float64](probes.NotExposed)
		s.Connections, s.SendQueueBytes, s.RecvQueueBytes, s.Waiting = none, none, none, none
		return
	}
	s.Connections, s.SendQueueBytes, s.RecvQueueBytes = probes.Some(t.open), probes.Some(t.send), probes.Some(t.receive)
	s.Waiting, s.Full = probes.Some(t.waiting), t.full
}
