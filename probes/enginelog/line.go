package enginelog

import "bytes"

// maxLine is how much of a line is looked at; known lines say what they say in the first
// few hundred bytes.
const maxLine = 16 << 10

// splitter cuts what is read into lines, whatever the pieces it comes in.
type splitter struct {
	line func([]byte) // called with each line, without its end; the bytes are reused

	part    []byte // the beginning of a line whose end is still to come
	long    bool   // the line was longer than maxLine: its rest is left out
	lines   int    // that have ended
	skipped int    // bytes left out
}

func (s *splitter) feed(piece []byte) {
	for len(piece) > 0 {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			s.keep(piece)
			return
		}
		if len(s.part) == 0 && !s.long && end <= maxLine {
			s.line(piece[:end])
		} else {
			s.keep(piece[:end])
			s.flush()
		}
		s.lines++
		piece = piece[end+1:]
	}
}

// keep holds a piece of a line until the line ends or is too long.
func (s *splitter) keep(piece []byte) {
	room := maxLine - len(s.part)
	if s.long {
		room = 0
	}
	if len(piece) > room {
		s.skipped += len(piece) - room
		piece = piece[:room]
		if !s.long {
			s.part = append(s.part, piece...)
			s.flush()
			s.long = true
		}
		return
	}
	s.part = append(s.part, piece...)
}

// flush ends the line that is being held.
func (s *splitter) flush() {
	if len(s.part) > 0 {
		s.line(s.part)
	}
	s.part, s.long = s.part[:0], false
}

// drop forgets the line that is being held: what follows is not its continuation, and
// begins in the middle of a line whose rest is left out.
func (s *splitter) drop() {
	s.skipped += len(s.part)
	s.part, s.long = s.part[:0], true
}

// take returns how many lines ended and how many bytes were left out since the last take.
func (s *splitter) take() (lines, skipped int) {
	lines, skipped = s.lines, s.skipped
	s.lines, s.skipped = 0, 0
	return lines, skipped
}
