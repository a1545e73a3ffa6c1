package canary

import (
	"bytes"
	"errors"
)

// Bounds of a stream of server-sent events.
const maxLine = 64 << 10 // bytes of a line, and of the data of one event

var (
	errLine = errors.New("a line of the answer is longer than 64 KiB: broken off")
	errDone = errors.New("the stream said that it is over")
)

// events takes a stream of server-sent events apart. Lines end in LF, CR or CRLF; lines
// without a field that matters (comments, ids) are passed over. What is not a field at
// all is too, as the standard has it.
type events struct {
	handle func(name string, data []byte) error // its error ends the stream

	line  []byte // begun and not ended
	name  []byte
	data  []byte
	any   bool // the event has data
	cr    bool // the last byte was a CR
	begun bool // the first line is over
}

// write takes the next bytes. An error of handle is returned as it is.
func (e *events) write(b []byte) error {
	for len(b) > 0 {
		if e.cr && b[0] == '\n' {
			b = b[1:]
		}
		e.cr = false
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			return e.keep(b)
		}
		if err := e.keep(b[:i]); err != nil {
			return err
		}
		e.cr = b[i] == '\r'
		b = b[i+1:]
		line := e.line
		e.line = e.line[:0]
		if err := e.endLine(line); err != nil {
			return err
		}
	}
	return nil
}

func (e *events) keep(b []byte) error {
	if len(e.line)+len(b) > maxLine {
		return errLine
	}
	e.line = append(e.line, b...)
	return nil
}

// endLine takes a whole line; an empty one ends the event.
func (e *events) endLine(line []byte) error {
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if len(line) == 0 {
		return e.dispatch()
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.name = append(e.name[:0], value...)
	case "data", "error": // llama.cpp told errors in a field of that name
		if len(e.data)+len(value)+1 > maxLine {
			return errLine
		}
		if e.any {
			e.data = append(e.data, '\n')
		}
		if string(field) == "error" {
			e.name = append(e.name[:0], field...)
		}
		e.data, e.any = append(e.data, value...), true
	}
	return nil
}

func (e *events) dispatch() error {
	name, data, any := string(e.name), e.data, e.any
	e.name, e.data, e.any = e.name[:0], e.data[:0], false
	if !any {
		return nil
	}
	return e.handle(name, data)
}

// close takes the end of the stream for the end of the last line and event.
func (e *events) close() error {
	if len(e.line) > 0 {
		line := e.line
		e.line = nil
		if err := e.endLine(line); err != nil {
			return err
		}
	}
	return e.dispatch()
}
