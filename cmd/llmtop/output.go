package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// toOutput has write produce a file, or standard output when path is "" or "-". A file is
// new, for this user alone, never behind a symbolic link, and gone again when write fails.
func toOutput(cmd *cobra.Command, path string, binary bool, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		out := cmd.OutOrStdout()
		if binary && isTerminal(out) {
			return usage(errors.New("this is no text for a terminal"), "give a file with -o")
		}
		b := bufio.NewWriterSize(out, 64<<10)
		if err := write(b); err != nil {
			return interruption(err, "what was printed is not all")
		}
		return failed(b.Flush(), "")
	}
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return failed(fmt.Errorf("%s exists already", path), "name a new file: nothing is ever overwritten")
	}
	if err != nil {
		return failed(fmt.Errorf("creating %s: %w", path, err), "")
	}
	f := os.NewFile(uintptr(fd), path)
	b := bufio.NewWriterSize(f, 64<<10)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(path)
		return interruption(err, "no file was left")
	}
	return nil
}

// toJSON writes v as one line; what is no trouble in a terminal is not escaped for HTML.
func toJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// interruption says in words of the user that the context ended. An error that has its
// exit status already stays as it is.
func interruption(err error, hint string) error {
	var exit *exitError
	switch {
	case errors.Is(err, context.Canceled):
		return failed(errors.New("interrupted"), hint)
	case errors.As(err, &exit):
		return err
	}
	return failed(err, "")
}

// newRecordingPath is -o of the commands that write a recording.
func newRecordingPath(path string) error {
	switch path {
	case "":
		return usage(errors.New("where to? give a new file with -o"), "")
	case "-":
		return usage(errors.New("a recording cannot go to standard output"), "give a new file with -o")
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress is a line on standard error, if that is a terminal, that tells how far long work is.
type progress struct {
	out  io.Writer // nil: nobody looks
	what string
	next time.Time
	said bool
}

func newProgress(cmd *cobra.Command, what string) *progress {
	if out := cmd.ErrOrStderr(); isTerminal(out) {
		return &progress{out: out, what: what, next: time.Now().Add(time.Second)}
	}
	return &progress{}
}

// report is called often; it says something twice a second.
func (p *progress) report(done, all int) {
	if p.out == nil || done%64 != 0 || all == 0 {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next, p.said = now.Add(time.Second/2), true
		fmt.Fprintf(p.out, "\r%s %d %% ", p.what, int64(done)*100/int64(all))
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.said {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
