package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

// A look at the tables may take one part in socketShare of the time, and rests for
// longestRest at most: the kernel goes through all connections of the host, and through
// a big machine's table even when it is empty.
const (
	socketShare = 500
	longestRest = 3500 * time.Millisecond
)

// Sockets reads the TCP connections of the engines. It is a probes.Probe.
type Sockets struct {
	root     string
	engines  func() []Engine
	next     time.Time            // not to be read before
	stuck    map[uint64]time.Time // since when a peer takes too little, by inode
	backlogs func(port uint16) (float64, bool)
}

// NewSockets returns a probe of the connections to the engines named at each read, below
// root ("" or "/" for this machine).
func NewSockets(root string, engines func() []Engine) *Sockets {
	s := &Sockets{root: filepath.Clean("/" + root), engines: engines}
	if s.root == "/" && mayAskForSockets() {
		s.backlogs = backlogOf
	}
	return s
}

// Name is "sockets".
func (s *Sockets) Name() string { return "sockets" }

// Read reads the tables of the network namespaces that the engines are in; nothing while
// it rests after a dear look. An engine behind a Unix socket has no connections that are
// told here; without any engine on this host it is an error.
func (s *Sockets) Read(ctx context.Context) (probes.Section, error) {
	now := time.Now()
	if now.Before(s.next) {
		return nil, nil
	}
	networks, local := s.networks()
	if !local {
		return nil, probes.Lacking(errors.New("no engine is reached by an address of this host"))
	}
	section := &probes.Sockets{At: probes.Stamp(now)}
	t := tally{now: now, before: s.stuck, stuck: map[uint64]time.Time{}}
	for _, n := range networks {
		if err := t.read(ctx, n); err != nil {
			return nil, err
		}
	}
	s.stuck = t.stuck
	t.fill(section, len(networks) > 0)
	section.WaitingLimit = s.limit(networks)
	s.next = now.Add(min(time.Since(now)*socketShare, longestRest))
	return section, nil
}

// network is a network namespace in which engines listen.
type network struct {
	dir   string            // with its tables
	own   bool              // it is llmtop's
	ports map[uint16]string // the endpoints of the engines by port
}

// networks lists them; local reports any engine on this host.
func (s *Sockets) networks() (list []*network, local bool) {
	proc := filepath.Join(s.root, "proc")
	for _, e := range s.engines() {
		local = local || e.Addr != ""
		addr, elsewhere, _ := strings.Cut(e.Addr, "#")
		port, err := strconv.ParseUint(addr[strings.LastIndexByte(addr, ':')+1:], 10, 16)
		if err != nil || elsewhere != "" && e.PID <= 0 { // a Unix socket, or nobody is known who is there
			continue
		}
		dir := proc + "/net"
		if elsewhere != "" {
			dir = networkOf(proc, e.PID)
		}
		n := place(list, dir)
		if n == nil {
			n = &network{dir: dir, own: elsewhere == "", ports: map[uint16]string{}}
			list = append(list, n)
		}
		if _, known := n.ports[uint16(port)]; !known {
			n.ports[uint16(port)] = e.Endpoint
		}
	}
	return list, local
}

func place(list []*network, dir string) *network {
	for _, n := range list {
		if same(n.dir, dir) {
			return n
		}
	}
	return nil
}

// same reports whether two directories with socket tables are of the same namespace.
func same(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Readlink(filepath.Dir(a) + "/ns/net")
	two, err2 := os.Readlink(filepath.Dir(b) + "/ns/net")
	return err == nil && err2 == nil && one == two
}

// networkOf is where the socket tables are that a process sees.
func networkOf(proc string, pid int) string { return filepath.Join(proc, strconv.Itoa(pid), "net") }

// limit is the sum of the backlogs: how many connections may wait to be accepted.
func (s *Sockets) limit(networks []*network) probes.Opt[float64] {
	sum := 0.0
	for _, n := range networks {
		for port := range n.ports {
			limit, ok := 0.0, false
			if n.own && s.backlogs != nil {
				limit, ok = s.backlogs(port)
			}
			if !ok {
				return probes.None[float64](probes.NotExposed)
			}
			sum += limit
		}
	}
	if len(networks) == 0 {
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(sum)
}
