package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cases are what is done, and what the readings should then be. The first four are those
// of which it is known what the kernel says: see profiling without a profile.
var cases = []testCase{
	{name: "calm", does: "sleep", watch: usual, wants: []want{
		atMost("process.cpu_cores", 0.1), unseen("process.throttled"), atMost("process.blocked", 0.01), atMost("socket.stuck", 0)}},
	{name: "quota", does: "burn", watch: usual, play: quota, wants: []want{
		between("process.cpu_cores", 0.2, 0.4), atLeast("process.run_wait", 0.4), atLeast("process.throttled", 0.8),
		between("process.cpu_limit", 0.29, 0.31), atLeast("process.throttled_time", 0.3)}},
	{name: "hogs", does: "burn", watch: twoScans, play: hogs, wants: []want{
		atLeast("process.run_wait", 0.5), unseen("process.throttled"), atLeast("host.cpu_pressure", 0.8), atLeast("host.cpu_busy", 0.95),
		atLeast("host.cpu_full_cores", 1), atLeast("neighbour.cpu", 0.15)}},
	{name: "gil", does: "interpreter", watch: usual, wants: []want{
		between("process.cpu_cores", 0.6, 1.3), atLeast("process.switches", 200), unseen("process.throttled"), atLeast("process.gil_suspects", 1)}},
	{name: "memory", does: "fault 160", watch: usual, play: memory, wants: []want{
		atLeast("process.memory_of_limit", 0.6), atLeast("process.major_faults", 1), atLeast("host.memory_pressure", 0.05)}},
	{name: "blocked", does: "write DIR/disk/file", watch: usual, play: freeze, wants: []want{atLeast("process.blocked", 0.9), atMost("process.cpu_cores", 0.1)}},
	{name: "disk", does: "write DIR/disk/file", watch: usual, play: slowDisk, wants: []want{
		atLeast("process.blocked", 0.5), atLeast("host.io_pressure", 0.3), unseen("process.throttled")}},
	{name: "pinned", does: "burn", watch: usual, play: pinned, wants: []want{
		between("process.cpus_allowed", 1, 1), atLeast("process.allowed_busy", 0.9), atLeast("process.allowed_taken", 0.35), atLeast("process.run_wait", 0.3)}},
	{name: "files", does: "open 900", watch: usual, play: limitFiles, wants: []want{between("process.descriptors", 0.85, 1)}},
	{name: "reader", does: "sleep", watch: usual, play: slowReader, wants: []want{
		atLeast("socket.stuck", 1), atLeast("socket.send_queue", 1000), atLeast("socket.connections", 1)}},
}

// quota gives the stand-in 30 % of a core.
func quota(s *scene) error {
	return limit(s, "cpu", map[string]string{"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "30000"}, map[string]string{"cpu.max": "30000 100000"})
}

// memory gives it 64 MiB for the 45 that it holds and the 160 that it goes through.
func memory(s *scene) error {
	return limit(s, "memory", map[string]string{"memory.limit_in_bytes": "67108864"}, map[string]string{"memory.max": "67108864"})
}

// hogs starts six processes that take whatever they get.
func hogs(s *scene) error {
	for range 6 {
		p, err := startStandIn("burn")
		if err != nil {
			return err
		}
		s.later(p.stop)
	}
	return nil
}

// pinned leaves the stand-in one core, of which another process takes half.
func pinned(s *scene) error {
	hog, err := startStandIn("burn")
	if err != nil {
		return err
	}
	s.later(hog.stop)
	for _, p := range []*process{s.engine, hog} {
		if out, err := exec.Command("taskset", "-a", "-p", "-c", "0", strconv.Itoa(p.pid)).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: taskset: %v: %s", errCannot, err, out)
		}
	}
	return nil
}

// disk makes a file system of its own in a file, with the file in it that the stand-in waits for.
func disk(s *scene) (device string, err error) {
	image, at := s.dir+"/image", s.dir+"/disk"
	for _, step := range [][]string{{"truncate", "-s", "32M", image}, {"mkfs.ext4", "-q", "-F", image}, {"mkdir", "-p", at}, {"mount", "-o", "loop", image, at}} {
		if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s: %v: %s", errCannot, step[0], err, out)
		}
	}
	s.later(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "hostgate: umount: %v: %s", err, out)
		}
		os.Remove(image)
	})
	s.later(s.engine.stop) // it holds the file
	var stat syscall.Stat_t
	if err := syscall.Stat(at, &stat); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d:%d", stat.Dev>>8&0xfff, stat.Dev&0xff), os.WriteFile(at+"/file", make([]byte, 64<<10), 0o644)
}

// freeze stops the file system that the stand-in writes to.
func freeze(s *scene) error {
	if _, err := disk(s); err != nil {
		return err
	}
	time.Sleep(time.Second) // until it writes
	if out, err := exec.Command("fsfreeze", "-f", s.dir+"/disk").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: fsfreeze: %v: %s", errCannot, err, out)
	}
	s.later(func() { exec.Command("fsfreeze", "-u", s.dir+"/disk").Run() }) // before all else: nothing that waits for it can be ended
	return nil
}

// slowDisk lets it have 128 KiB a second.
func slowDisk(s *scene) error {
	device, err := disk(s)
	if err != nil {
		return err
	}
	return limit(s, "blkio", map[string]string{"blkio.throttle.write_bps_device": device + " 131072"}, map[string]string{"io.max": device + " wbps=131072"})
}

// limitFiles lets the stand-in have 1000 descriptors.
func limitFiles(s *scene) error {
	out, err := exec.Command("prlimit", "--pid", strconv.Itoa(s.engine.pid), "--nofile=1000:1000").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: prlimit: %v: %s", errCannot, err, out)
	}
	return nil
}

// slowReader asks for the endless answer and reads none of it.
func slowReader(s *scene) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(s.engine.url, "http://"))
	if err != nil {
		return err
	}
	s.later(func() { c.Close() })
	c.(*net.TCPConn).SetReadBuffer(4096)
	_, err = fmt.Fprintf(c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
	time.Sleep(time.Second) // until the buffers of both sides are full
	return err
}

// groupName begins the names of the cgroups that are made.
const groupName = "llmtop-hostgate"

// limit puts the stand-in into a cgroup of its own, of version 1 or 2, with these settings.
func limit(s *scene, controller string, v1, v2 map[string]string) error {
	name := fmt.Sprintf("%s-%d", groupName, os.Getpid())
	dir, settings := "/sys/fs/cgroup/"+controller+"/"+name, v1
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, settings = "/sys/fs/cgroup/"+name, v2
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("%w: %v", errCannot, err)
	}
	s.later(func() { // after the stand-in's end; the kernel may take a moment to let go of it
		for range 50 {
			if syscall.Rmdir(dir) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		fmt.Fprintln(os.Stderr, "hostgate: could not remove", dir)
	})
	for file, text := range settings {
		if err := os.WriteFile(dir+"/"+file, []byte(text), 0o644); err != nil {
			return fmt.Errorf("%w: %v", errCannot, err)
		}
	}
	// The stand-in has to be gone before its group can be: it is ended first of all.
	s.later(s.engine.stop)
	return os.WriteFile(dir+"/cgroup.procs", []byte(strconv.Itoa(s.engine.pid)), 0o644)
}
