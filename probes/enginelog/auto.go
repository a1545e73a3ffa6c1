package enginelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Timing of looking for a log.
const (
	lookEvery = 2 * time.Second // for the engine's process, and whether it is another one
	retryLook = 30 * time.Second
)

// finder reads the log of the engine's process, wherever that goes.
type finder struct {
	root string
	pid  func() int
	sink *sink

	last    int       // the process that was looked at
	found   string    // what its log is; "" when it was not found
	next    time.Time // when to look again while it is not
	stop    func()    // ends the reading of it
	reading sync.WaitGroup
}

func newFinder(o Options, s *sink) *finder {
	return &finder{root: o.Root, pid: o.PID, sink: s, stop: func() {}}
}

// run looks for the log until there is one, and again when the engine is another process.
func (f *finder) run(ctx context.Context) {
	defer f.end()
	for {
		f.look(ctx, time.Now())
		if !pause(ctx, lookEvery) {
			return
		}
	}
}

func (f *finder) look(ctx context.Context, at time.Time) {
	pid := f.process()
	switch {
	case pid == 0 && f.found == "":
		f.sink.fail(errors.New("the engine's process is not known yet: its log is looked for when it listens on this host"))
		return
	case pid == 0, pid == f.last && (f.found != "" || at.Before(f.next)):
		return
	}
	anew := f.last != 0 && pid != f.last
	sources, err := f.find(pid)
	f.last, f.next = pid, at.Add(retryLook)
	if err != nil {
		f.end()
		f.found = ""
		f.sink.fail(err)
		return
	}
	if name := fmt.Sprint(sources); name != f.found {
		f.end()
		f.found = name
		f.read(ctx, sources, anew)
	}
}

// end ends the reading and waits for it.
func (f *finder) end() {
	f.stop()
	f.reading.Wait()
}

func (f *finder) process() int {
	if f.pid == nil {
		return 0
	}
	return f.pid()
}

// read starts reading sources into one section, which has the first one's name.
func (f *finder) read(ctx context.Context, sources []Source, anew bool) {
	ctx, f.stop = context.WithCancel(ctx)
	f.sink.begin(sources[0].String())
	for _, s := range sources {
		run := reader(s, f.sink, anew)
		f.reading.Go(func() { f.sink.guarded(func() { run(ctx) }) })
	}
}

// find says where the log of a process goes: the files that are its standard output and
// error, else the container or the unit that it runs in.
func (f *finder) find(pid int) ([]Source, error) {
	proc := filepath.Join(f.root, "proc", strconv.Itoa(pid))
	var files []Source
	var streams []string
	socket := false
	for i, name := range [...]string{"standard output", "standard error"} {
		path, what := f.stream(proc, i+1)
		if path == "" {
			streams = append(streams, name+" is "+what)
			socket = socket || what == "a socket" || what == "not to be seen"
			continue
		}
		if s := (Source{Kind: file, Name: path}); len(files) == 0 || files[0] != s {
			files = append(files, s)
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	membership, err := membershipOf(proc)
	if err != nil {
		streams = append(streams, "its cgroup is not to be seen")
	}
	if id := containerIn(membership); id != "" {
		return []Source{f.container(id)}, nil
	}
	unit := unitIn(membership)
	if unit != "" && socket {
		return []Source{{Kind: journal, Name: unit}}, nil
	}
	return nil, fmt.Errorf("no log found of process %d: %s, %s; name it: --log FILE, --log journal:UNIT or --log docker:ID",
		pid, strings.Join(streams, ", "), elsewhere(unit))
}

// elsewhere says what else was looked for.
func elsewhere(unit string) string {
	if unit != "" {
		return "not to the journal of " + unit
	}
	return "and it runs in no container and no service"
}

// stream is the file behind a descriptor, as it is to be opened; "" when it is no regular
// file, and what it is then.
func (f *finder) stream(proc string, fd int) (path, what string) {
	link := filepath.Join(proc, "fd", strconv.Itoa(fd))
	target, err := os.Readlink(link)
	if err != nil {
		return "", "not to be seen"
	}
	switch {
	case strings.HasPrefix(target, "pipe:"):
		return "", "a pipe"
	case strings.HasPrefix(target, "socket:"):
		return "", "a socket"
	case strings.HasPrefix(target, "/dev/null"):
		return "", "thrown away"
	case strings.HasPrefix(target, "/dev/"):
		return "", "a terminal"
	case !strings.HasPrefix(target, "/"):
		return "", "no file"
	}
	return f.named(proc, link, target)
}

// named finds the path by which rotation is seen: the link's text may be meant within the
// process's own root, or be out of date; then the descriptor itself is all there is.
func (f *finder) named(proc, link, target string) (path, what string) {
	open, err := os.Stat(link)
	seen := err == nil
	for _, path := range []string{filepath.Join(f.root, target), filepath.Join(proc, "root", target)} {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && (!seen || os.SameFile(info, open)) {
			return path, ""
		}
	}
	if seen && open.Mode().IsRegular() {
		return link, ""
	}
	return "", "a file that is not there"
}

// Names in a cgroup path. A container's is 64 hexadecimal digits, as docker, podman,
// containerd and CRI-O have it: docker/ID, docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope.
var (
	containerInPath = regexp.MustCompile(`(?:^|[/-])([0-9a-f]{64})(?:\.scope)?(?:/|$)`)
	unitInPath      = regexp.MustCompile(`/([a-zA-Z0-9_][a-zA-Z0-9_:.@\\-]{0,254}\.service)(?:/|$)`)
)

// membershipOf reads /proc/PID/cgroup; it has a line of a few hundred bytes a hierarchy.
func membershipOf(proc string) (string, error) {
	f, err := os.Open(filepath.Join(proc, "cgroup"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return string(b), err
}

// containerIn is the innermost container in /proc/PID/cgroup, "" for none.
func containerIn(membership string) string { return innermost(membership, containerInPath) }

// unitIn is the innermost service in /proc/PID/cgroup, "" for none. A user's manager is none.
func unitIn(membership string) string {
	unit := innermost(membership, unitInPath)
	if strings.HasPrefix(unit, "user@") {
		return ""
	}
	return unit
}

func innermost(membership string, name *regexp.Regexp) (last string) {
	for line := range strings.Lines(membership) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for rest := fields[2]; ; {
			at := name.FindStringSubmatchIndex(rest)
			if at == nil {
				break
			}
			last, rest = rest[at[2]:at[3]], rest[at[3]:]
		}
		if last != "" {
			return last
		}
	}
	return ""
}

// container is where a container's output goes: on a Kubernetes node to a file.
func (f *finder) container(id string) Source {
	if paths, err := filepath.Glob(filepath.Join(f.root, "var/log/containers", "*-"+id+".log")); err == nil && len(paths) > 0 {
		return Source{Kind: file, Name: paths[0]}
	}
	return Source{Kind: docker, Name: id}
}
