package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"llmtop/probes"
)

// Bounds of a look at what listens on a host.
const (
	maxNamespaces = 256
	maxListeners  = 4096
	maxPromising  = 256
	maxLine       = 8 << 10 // bytes of a command line
)

// Listeners lists what accepts connections on this machine (below root, "/" for this
// one), in llmtop's network namespace and in the others that have a process, and which
// process that is. promising says by a command line that a process is worth knowing even
// though it listens nowhere; those are looked at first. When ctx ends, what is known by
// then is returned: sockets whose process was not reached have no PID.
func Listeners(ctx context.Context, root string, promising func(argv []string) bool) []probes.Listener {
	l := &look{proc: filepath.Join("/", root, "proc"), at: map[uint64]int{}}
	l.own, _ = namespaceOf(l.proc + "/self") // 0 where there are none
	l.seen = map[uint64]bool{l.own: true}
	l.tables(ctx, l.proc+"/net", probes.Listener{})
	eachUnix(ctx, l.proc+"/net/unix", func(inode uint64, path string) {
		l.add(inode, probes.Listener{Path: path, UID: -1})
	})
	list := l.processes(promising)
	for _, p := range list {
		l.namespace(ctx, p)
	}
	for _, p := range list {
		if ctx.Err() != nil || !p.promising && l.missing == 0 {
			break
		}
		l.holds(p)
	}
	return l.listeners(list)
}

// look is one look at the host.
type look struct {
	proc    string
	found   []probes.Listener
	at      map[uint64]int // inode of a socket to its place in found
	own     uint64         // llmtop's network namespace
	seen    map[uint64]bool
	missing int // TCP sockets whose process is not known
}

// process is a process under /proc.
type process struct {
	pid       int
	dir       string
	argv      []string
	promising bool
	netns     uint64
	other     bool // it is in another network namespace
	holds     bool // a socket that listens
	hidden    bool // its sockets are not to be seen
}

func (l *look) add(inode uint64, found probes.Listener) {
	if _, known := l.at[inode]; known || len(l.found) >= maxListeners {
		return
	}
	l.at[inode] = len(l.found)
	l.found = append(l.found, found)
	if found.Addr.IsValid() {
		l.missing++
	}
}

// tables adds the TCP sockets of a namespace, whose properties like has.
func (l *look) tables(ctx context.Context, dir string, like probes.Listener) {
	for _, table := range []string{"/tcp", "/tcp6"} {
		eachListening(ctx, dir+table, func(s tcpSocket) {
			like.Addr, like.UID = s.at, s.uid
			l.add(s.inode, like)
		})
	}
}

// processes lists the processes with a command line, the promising ones first.
func (l *look) processes(promising func([]string) bool) []*process {
	pids, err := processes(l.proc)
	if err != nil {
		return nil
	}
	var list []*process
	buf := make([]byte, maxLine)
	many := 0
	for _, pid := range pids {
		p := &process{pid: pid, dir: l.proc + "/" + strconv.Itoa(pid)}
		if p.argv = argvOf(p.dir, buf); p.argv == nil {
			continue // a thread of the kernel, or gone
		}
		if p.promising = many < maxPromising && promising(p.argv); p.promising {
			many++
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b *process) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

func rank(p *process) int {
	if p.promising {
		return 0
	}
	return 1
}

// argvOf is a process's command line, as much of it as fits in buf.
func argvOf(dir string, buf []byte) []string {
	fd, err := probes.OpenKernelFile(dir + "/cmdline")
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, buf)
	if err != nil || n <= 0 {
		return nil
	}
	text := bytes.TrimRight(buf[:n], "\x00 ")
	if len(text) == 0 {
		return nil
	}
	return strings.Split(string(text), "\x00")
}

// namespace finds out in which network namespace a process is, and reads its tables once.
// Of a process of another user that is not to be seen, but its sockets are: when none of
// them is one of ours, it is in another one.
func (l *look) namespace(ctx context.Context, p *process) {
	netns, err := namespaceOf(p.dir)
	switch {
	case err == nil && l.seen[netns]:
		p.netns, p.other = netns, netns != l.own
		return
	case err == nil:
		if len(l.seen) > maxNamespaces {
			return
		}
		l.seen[netns] = true
		p.netns, p.other = netns, true
		l.tables(ctx, p.dir+"/net", probes.Listener{Other: true, NetNS: netns, Addresses: addresses(ctx, p.dir)})
	case p.promising && errors.Is(err, os.ErrPermission):
		l.hidden(ctx, p)
	}
}

// hidden looks at the sockets of a promising process whose namespace is not to be seen.
func (l *look) hidden(ctx context.Context, p *process) {
	var theirs []tcpSocket
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		eachListening(ctx, p.dir+table, func(s tcpSocket) { theirs = append(theirs, s) })
	}
	for _, s := range theirs {
		if i, known := l.at[s.inode]; known && !l.found[i].Other {
			return // it is in ours
		}
	}
	for _, s := range theirs {
		l.add(s.inode, probes.Listener{Other: true, Addr: s.at, UID: s.uid})
	}
	p.other = len(theirs) > 0
}

// holds finds the sockets that a process has open. Forked workers share them; the
// process with the lowest number is their parent in practice.
func (l *look) holds(p *process) {
	d, err := os.Open(p.dir + "/fd")
	if err != nil {
		p.hidden = errors.Is(err, os.ErrPermission)
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxFDs)
	for _, name := range names {
		link, err := os.Readlink(p.dir + "/fd/" + name)
		if err != nil {
			continue
		}
		inode, ok := socketInode(link)
		if !ok {
			continue
		}
		i, ok := l.at[inode]
		if !ok {
			continue
		}
		p.holds = true
		if l.found[i].PID != 0 {
			continue
		}
		l.found[i].PID, l.found[i].Argv = p.pid, p.argv
		if l.found[i].Addr.IsValid() {
			l.missing--
		} else {
			l.found[i].Path, l.found[i].UID = pathFrom(p, l.found[i].Path), ownerOf(p.dir)
		}
	}
}

// pathFrom is how a path of a process that sees other files is reached from here, and one
// that the process gave from where it stood.
func pathFrom(p *process, path string) string {
	self := filepath.Dir(p.dir) + "/self"
	mounts := differs(p.dir+"/ns/mnt", self+"/ns/mnt")
	switch relative := !strings.HasPrefix(path, "/"); {
	case relative && !mounts:
		if cwd, err := os.Readlink(p.dir + "/cwd"); err == nil {
			return filepath.Join(cwd, path)
		}
		return p.dir + "/cwd/" + path
	case relative:
		return p.dir + "/cwd/" + path
	case mounts || differs(p.dir+"/root", self+"/root"):
		return p.dir + "/root" + path
	}
	return path
}

// differs reports two links that point to different things; one that is not to be seen
// points to the same.
func differs(a, b string) bool {
	theirs, err := os.Readlink(a)
	ours, err2 := os.Readlink(b)
	return err == nil && err2 == nil && theirs != ours
}

// ownerOf is the user that started a process, -1 when it is not known. Whose its files
// under /proc are says less: those of a process that may not be dumped are root's.
func ownerOf(dir string) int {
	text, err := read(dir+"/status", nil)
	if err != nil {
		return -1
	}
	_, rest, _ := bytes.Cut(text, []byte("\nUid:"))
	fields := bytes.Fields(rest[:min(len(rest), 80)])
	if len(fields) == 0 {
		return -1
	}
	uid, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return -1
	}
	return uid
}

// listeners is what was found, with the promising processes that listen nowhere. Unix
// sockets of others are nobody's business.
func (l *look) listeners(list []*process) []probes.Listener {
	byPID := map[int]*process{}
	for _, p := range list {
		if p.promising {
			byPID[p.pid] = p
		}
	}
	var out []probes.Listener
	for _, f := range l.found {
		p := byPID[f.PID]
		if f.Path != "" && p == nil {
			continue
		}
		if p != nil && f.Other {
			f.Container = container(p.dir)
		}
		out = append(out, f)
	}
	for _, p := range list {
		if p.promising && !p.holds {
			out = append(out, probes.Listener{Other: p.other, NetNS: p.netns, PID: p.pid, UID: ownerOf(p.dir), Argv: p.argv,
				Container: container(p.dir), Hidden: p.hidden})
		}
	}
	return out
}
