package nvml

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"llmtop/probes"
)

// The kernel's log tells of critical errors too, of those as well that the driver does
// not report as events: a GPU that falls off the bus while the driver starts it.

// longestRecord of the kernel's log is shorter.
const longestRecord = 8192

// mostReadErrors in a row end the reading of the log.
const mostReadErrors = 100

// followKernel starts to read the kernel's log, once.
func (l *xidLog) followKernel(p *Probe) {
	l.begin.Do(func() {
		path := filepath.Join(p.root, "dev/kmsg")
		f, err := openKernelLog(path)
		l.setKernel(kernelNote(path, err))
		if err != nil {
			return
		}
		p.ends.Go(func() {
			defer f.Close()
			defer context.AfterFunc(p.ctx, func() { f.Close() })() // wakes the reading
			err := readKernelLog(p.ctx, f, func(device string, by xidSource, number uint64) {
				l.add(device, by, number, p.now())
			})
			l.setKernel(kernelNote(path, err))
		})
	})
}

func (l *xidLog) setKernel(note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kernel, l.note = note == "", note
}

func (l *xidLog) kernelNote() string { l.mu.Lock(); defer l.mu.Unlock(); return l.note }

// kernelNote says in plain words why the log cannot be read; nothing without an error.
func kernelNote(path string, err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrPermission):
		return "the kernel's log, " + path + ", is not for this user: root may read it, or CAP_SYSLOG"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no kernel's log, " + path
	}
	return "reading the kernel's log: " + probes.Printable(err.Error(), 200)
}

// openKernelLog opens it after its last record. Reading then waits without a thread.
func openKernelLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil && !errors.Is(err, syscall.ESPIPE) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readKernelLog tells what it reads of critical errors until ctx ends; then the error is
// nil. That records were overwritten before they could be read, and that one is too long,
// are errors after which reading goes on.
func readKernelLog(ctx context.Context, f io.Reader, tell func(device string, by xidSource, number uint64)) error {
	buffer := make([]byte, longestRecord)
	var parser kernelParser
	for failed := 0; ; {
		n, err := f.Read(buffer)
		for line := range bytes.Lines(buffer[:n]) {
			if device, by, number, ok := parser.line(line); ok {
				tell(device, by, number)
			}
		}
		failed++
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failed = 0
		case failed == mostReadErrors:
			return err
		case errors.Is(err, syscall.EAGAIN): // where waiting is not to be had
			failed = 0
			pause(ctx, listenPause)
		case !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.EINVAL):
			return err
		}
	}
}

// What the driver writes. The kernel begins some messages with the name of a program, which
// anybody may choose, and has the name of one of its files in them: a program named
// "NVRM: x" that crashes in a file named "0000:5e:00 fallen off the bus" is no lost GPU.
// So each text has to begin as the driver's does, up to more than the 15 bytes of a name.
var (
	xidText    = regexp.MustCompile(`^NVRM: Xid \((?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})[^)]*\): ([0-9]{1,9})\b`)
	namingText = regexp.MustCompile(`^NVRM: (?:The NVIDIA )?GPU (?:at )?(?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})\b`)
	endingText = regexp.MustCompile(`^NVRM: (?:GPU )?(?:has )?fallen off the bus`)
	driverText = []byte("NVRM: ")
	fallenText = []byte("fallen off the bus")
)

// kernelParser finds errors in the log. It keeps the device that the driver named last,
// since a message may stand in several records, of which only the first has the name.
type kernelParser struct {
	device string
	age    int // records of the driver since
}

// mostRecords of one message.
const mostRecords = 4

// line takes one line: "4,1234,5678901,-;NVRM: Xid (PCI:0000:5e:00): 79, …". Of those that
// do not come from the kernel itself, as the number in front tells, none is believed.
func (p *kernelParser) line(line []byte) (device string, by xidSource, number uint64, ok bool) {
	head, text, found := bytes.Cut(line, []byte(";"))
	priority, _, _ := bytes.Cut(head, []byte(","))
	level, err := strconv.Atoi(string(priority))
	if !found || err != nil || level < 0 || level > 7 || !bytes.HasPrefix(text, driverText) {
		return "", 0, 0, false
	}
	if m := xidText.FindSubmatch(text); m != nil {
		number, _ = strconv.ParseUint(string(m[2]), 10, 64) // has digits only
		device, ok = pciKey(string(m[1]))
		return device, toldByKernel, number, ok
	}
	p.age++
	fallen := endingText.Match(text)
	if m := namingText.FindSubmatch(text); m != nil {
		if key, ok := pciKey(string(m[1])); ok {
			p.device, p.age = key, 0
			fallen = bytes.Contains(text, fallenText)
		}
	}
	if !fallen || p.device == "" || p.age >= mostRecords {
		return "", 0, 0, false
	}
	return p.device, toldByKernelInWords, offTheBus, true
}
