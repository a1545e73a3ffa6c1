package discover

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// ephemeral is the first port that Linux gives to sockets that ask for none. Behind those
// of an engine are its collective communication and the like, not its HTTP, and some of
// that does not bear a stranger.
const ephemeral = 32768

// maxServers bounds the sockets of Python programs that are asked only because an engine
// may be one.
const maxServers = 16

// door is a socket to knock at, by its addresses in the order of trying.
type door struct {
	endpoints []probes.Endpoint
	port      uint16 // 0 of a Unix socket
	uid       int    // whose socket it is; -1: not known, or of more than one user
	likely    bool   // it is where this engine has its metrics
}

// candidate is a process and its doors, or a door whose process is not known.
type candidate struct {
	engine    *engine // by its command line; nil: not known
	argv      []string
	pid       int
	uid       int  // whose process it is
	guessed   bool // the process was told by its port alone
	container string
	doors     []door
	also      []string // other addresses of it
}

// group sorts sockets into candidates, the most promising first, and tells of the engines
// that cannot be asked at all.
func group(list []probes.Listener) ([]*candidate, []Found) {
	list = slices.Clone(list)
	pair(list)
	list, aliases := forwarded(list)
	byPID := map[int]*candidate{}
	var known, rest []*candidate
	var unreachable []Found
	for _, l := range list {
		if l.PID == 0 {
			continue
		}
		e, is := engineOf(l.Argv)
		switch {
		case !is:
		case l.Other && l.NetNS == 0:
			unreachable = append(unreachable, elsewhere(&e, l))
		default:
			c := byPID[l.PID]
			if c == nil {
				c = &candidate{engine: &e, argv: l.Argv, pid: l.PID, uid: l.UID, guessed: l.Hidden, container: l.Container, also: aliases[l.PID]}
				byPID[l.PID], known = c, append(known, c)
			}
			if l.Addr.IsValid() || l.Path != "" {
				c.add(l, taken(list, l))
			}
		}
	}
	for _, c := range known {
		c.choose()
	}
	for _, l := range strangers(list) {
		c := &candidate{argv: l.Argv, pid: l.PID, uid: l.UID}
		c.add(l, taken(list, l))
		if i := slices.IndexFunc(rest, func(o *candidate) bool { return o.pid == l.PID && o.doors[0].port == l.Addr.Port() }); i >= 0 {
			rest[i].add(l, taken(list, l))
			continue
		}
		rest = append(rest, c)
	}
	return append(known, rest...), unreachable
}

// add takes a socket in; addresses of one port are one door, the loopback one first. taken
// says that 127.0.0.1 is another socket's.
func (c *candidate) add(l probes.Listener, taken bool) {
	endpoints := endpointsOf(l)
	if taken {
		endpoints = endpoints[:1]
	}
	port := l.Addr.Port()
	for i := range c.doors {
		if d := &c.doors[i]; port > 0 && d.port == port {
			if d.uid != l.UID {
				d.uid = -1
			}
			if wide(l.Addr.Addr()) && !strings.Contains(d.endpoints[0].Host(), "127.0.0.1:") {
				d.endpoints = append(endpoints, d.endpoints...)
			} else {
				d.endpoints = append(d.endpoints, endpoints...)
			}
			return
		}
	}
	c.doors = append(c.doors, door{endpoints: endpoints, port: port, uid: l.UID})
}

// taken reports a socket on :: whose port on 127.0.0.1 another socket has.
func taken(list []probes.Listener, l probes.Listener) bool {
	if !l.Addr.IsValid() || !l.Addr.Addr().Is6() || !l.Addr.Addr().IsUnspecified() {
		return false
	}
	return slices.ContainsFunc(list, func(o probes.Listener) bool {
		return o.Addr.Port() == l.Addr.Port() && o.Addr.Addr().Is4() && wide(o.Addr.Addr()) && o.Other == l.Other && o.NetNS == l.NetNS
	})
}

func wide(ip netip.Addr) bool { return ip.IsUnspecified() || ip.IsLoopback() }

// endpointsOf are the addresses that reach a socket from here, the best first. A socket on
// :: answers 127.0.0.1 as well unless it was made not to, which cannot be seen: Python's
// servers make theirs so. Then anybody may listen on 127.0.0.1, and gets what is meant for
// the engine; so ::1 comes first, where nobody else can.
func endpointsOf(l probes.Listener) []probes.Endpoint {
	var names []string
	ip, port := l.Addr.Addr(), strconv.Itoa(int(l.Addr.Port()))
	switch {
	case l.Path != "":
		names = []string{"unix:" + l.Path}
	case ip.Is4() && ip.IsUnspecified():
		names = []string{"127.0.0.1:" + port}
	case ip.IsUnspecified():
		names = []string{"[::1]:" + port, "127.0.0.1:" + port}
	default:
		names = []string{l.Addr.String()}
	}
	var out []probes.Endpoint
	for _, name := range names {
		if l.Other {
			name += "#netns=" + strconv.FormatUint(l.NetNS, 10)
		}
		if e, err := probes.ParseEndpoint(name); err == nil {
			out = append(out, e)
		}
	}
	return out
}

// choose keeps the doors of an engine that may be its HTTP: the port that its command line
// names or its default one, else what is not ephemeral, else the only one there is.
func (c *candidate) choose() {
	c.doors = slices.DeleteFunc(c.doors, func(d door) bool { return len(d.endpoints) == 0 })
	usual, own := c.engine.portOf(c.argv), c.engine.metricsPort(c.argv)
	only := len(c.doors) == 1
	var doors []door
	for _, d := range c.doors {
		d.likely = d.port == usual && own == 0 || d.port == own && own > 0 || d.port == 0
		if d.likely || d.port == usual || d.port < ephemeral || only && !c.engine.worker {
			doors = append(doors, d)
		}
	}
	slices.SortStableFunc(doors, func(a, b door) int { return cmp.Compare(order(a.likely), order(b.likely)) })
	c.doors = doors
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// strangers are the sockets of processes that are no engine's by their command line, or
// not to be seen, that may be one's all the same: those on the ports that engines use, and
// a few of Python programs.
func strangers(list []probes.Listener) []probes.Listener {
	var common, servers []probes.Listener
	for _, l := range list {
		port := l.Addr.Port()
		if _, is := engineOf(l.Argv); is || !l.Addr.IsValid() || l.Other && l.NetNS == 0 || internal(l.Argv) || refused(l.Argv, port) {
			continue
		}
		switch {
		case slices.Contains(commonPorts, port):
			common = append(common, l)
		case isPython(l.Argv) && port >= 1024 && port < ephemeral && len(servers) < maxServers:
			servers = append(servers, l)
		}
	}
	slices.SortStableFunc(common, func(a, b probes.Listener) int {
		return cmp.Compare(slices.Index(commonPorts, a.Addr.Port()), slices.Index(commonPorts, b.Addr.Port()))
	})
	return append(common, servers...)
}

// internal reports a process that engines title themselves: a rank, not a server.
func internal(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	return strings.HasPrefix(argv[0], "VLLM::") || strings.HasPrefix(argv[0], "sglang::") || strings.HasPrefix(argv[0], "ray::")
}

// Programs and ports that nobody talks HTTP to uninvited.
var (
	deafPrograms = []string{"sshd", "postgres", "postmaster", "mysqld", "mariadbd", "redis-server", "valkey-server", "mongod", "memcached", "etcd", "nats-server",
		"systemd", "systemd-resolve", "dnsmasq", "named", "cupsd", "master", "rpcbind", "rpc.statd", "smbd", "ntpd", "chronyd", "beam.smp", "kafka", "qdrant",
		"milvus", "clickhouse-server", "elasticsearch", "kubelet", "containerd", "dockerd", "raylet", "gcs_server", "plasma_store", "nvidia-fabricmanager", "nv-hostengine"}
	deafPorts = []uint16{22, 25, 53, 111, 139, 445, 631, 2379, 2380, 3306, 4222, 5432, 5555, 6379, 6380, 9092, 11211, 27017}
)

func refused(argv []string, port uint16) bool {
	if slices.Contains(deafPorts, port) {
		return true
	}
	if len(argv) == 0 {
		return false
	}
	name := path.Base(argv[0])
	if i := strings.IndexByte(name, ':'); i > 0 { // "postgres: checkpointer", "sshd: /usr/sbin/sshd -D"
		name = name[:i]
	}
	return slices.Contains(deafPrograms, name)
}

// pair gives sockets whose process is not to be seen to the engine's process that must be
// theirs: of the same user and with that port on its command line.
func pair(list []probes.Listener) {
	for i := range list {
		p := &list[i]
		e, is := engineOf(p.Argv)
		if !is || !p.Hidden || p.Addr.IsValid() || p.Path != "" {
			continue
		}
		ports := []uint16{e.portOf(p.Argv), e.metricsPort(p.Argv)}
		for j := range list {
			if l := &list[j]; l.PID == 0 && l.Addr.IsValid() && l.Other == p.Other && l.UID == p.UID && slices.Contains(ports, l.Addr.Port()) {
				l.PID, l.Argv, l.Hidden, l.Container = p.PID, p.Argv, true, p.Container
			}
		}
	}
}
