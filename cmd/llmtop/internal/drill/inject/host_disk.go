package inject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// slowDisk is a disk that gives the engine few bytes a second, while its weights have to
// be read again and again, as others fill the page cache: a small volume in a cloud, or one
// that others keep busy.
//
//	bytes  that the engine may read of the disk in a second
//	every  how often its weights are taken out of memory
type slowDisk struct {
	bytes float64
	every time.Duration

	weights weights
	group   *group
	end     func() error
	pid     int
	read    float64 // bytes, by what is in the group
	over    bool
}

func newSlowDisk(with Settings) (Injector, error) {
	bytes, err1 := with.Number("bytes", 0, 64<<10, 1<<40)
	every, err2 := with.Duration("every", 2*time.Second, 50*time.Millisecond, time.Minute)
	if bytes == 0 && err1 == nil {
		err1 = errors.New("no number of bytes is given")
	}
	return &slowDisk{bytes: bytes, every: every, end: nothing}, errors.Join(err1, err2)
}

func nothing() error { return nil }

func (d *slowDisk) Prepare(_ context.Context, s *Site) error { return d.weights.prepare(s) }

func (d *slowDisk) Start(ctx context.Context, s *Site) error {
	device, err := deviceOf(d.weights.path)
	if err != nil {
		return err
	}
	d.pid = s.Engine.PID()
	spans, err := mapped(d.pid, d.weights.path)
	if err != nil {
		return err
	}
	if d.group, err = newGroup("/", diskController("/"), d.pid); err != nil {
		return err
	}
	file, value := "blkio.throttle.read_bps_device", fmt.Sprintf("%s %.0f", device, d.bytes)
	if d.group.v2 {
		file, value = "io.max", fmt.Sprintf("%s rbps=%.0f", device, d.bytes)
	}
	if err := d.group.set(file, value); err != nil {
		return lacksGroup("blkio", fmt.Errorf("limiting disk %s: %w", device, err))
	}
	d.end = repeat(ctx, d.every, func() error { return pageOut(d.pid, spans) })
	return nil
}

// diskController is the name of what limits disks: io of version 2, blkio of version 1.
func diskController(root string) string {
	if _, err := os.Stat(filepath.Join(root, "sys/fs/cgroup/blkio")); err == nil {
		return "blkio"
	}
	return "io"
}

// repeat does something at once and every so long until the returned func is called, which
// returns the first error: after one it is not done again.
func repeat(ctx context.Context, every time.Duration, do func() error) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan error, 1)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			err = do()
			pause(ctx, every)
		}
		over <- err
	}()
	var err error
	first := true
	return func() error {
		if cancel(); first {
			first, err = false, <-over
		}
		return err
	}
}

func (d *slowDisk) Stop() error {
	err := d.end()
	if d.group != nil && !d.over {
		d.over, d.read = true, d.group.bytesRead()
	}
	if startOf("/", max(d.pid, 1)) == "0" {
		err = nil // the engine has ended: its pages with it
	}
	return errors.Join(err, d.group.undo())
}

// bytesRead is what the processes of a group have read of disks.
func (g *group) bytesRead() (sum float64) {
	file := "blkio.throttle.io_service_bytes" // lines "8:0 Read 4096"
	if g.v2 {
		file = "io.stat" // lines "8:0 rbytes=4096 wbytes=0 …"
	}
	b, _ := os.ReadFile(filepath.Join(g.dir, file))
	for line := range strings.Lines(string(b)) {
		var device string
		var n float64
		if _, err := fmt.Sscanf(strings.Replace(line, "rbytes=", "Read ", 1), "%s Read %g", &device, &n); err == nil {
			sum += n
		}
	}
	return sum
}

// Confirm asks that the weights were read again several times, as slowly as the disk lets them.
func (d *slowDisk) Confirm() error {
	if d.read < 3*float64(d.weights.size) {
		return fmt.Errorf("the engine has read %.0f bytes of the disk again", d.read)
	}
	return nil
}

// wholeDisk is the number of the disk that a partition is of; a file system without a disk
// of its own has none.
func wholeDisk(root string, major, minor uint32) (string, error) {
	number := fmt.Sprintf("%d:%d", major, minor)
	dir, err := filepath.EvalSymlinks(filepath.Join(root, "sys/dev/block", number))
	if major == 0 || err != nil {
		return "", Lacking("needs a temporary directory on a disk of its own: " + number + " is none")
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err != nil {
		return number, nil
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "dev"))
	return strings.TrimSpace(string(b)), err
}
