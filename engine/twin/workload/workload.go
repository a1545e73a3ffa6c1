// Package workload makes the requests that a simulated engine gets: when, how long, with which
// prefix, of which class. The same seed and the same turns of the knobs make the same requests.
package workload

import (
	"time"

	"llmtop/engine"
)

// Request is one that arrives. Lengths are in tokens unless they say otherwise.
type Request struct {
	At      time.Duration // since the start of the run
	Prompt  int           // of the whole prompt, at least 1; its prefix included
	Output  int           // of the answer, at least 1
	Prefix  []Segment     // what its prompt shares with others, from the beginning; the rest is its own
	New     int           // of its end: what no request before it can have had
	GoesOn  bool          // the answer goes on in the last segment of Prefix, as a later turn of the conversation has it
	Bytes   int           // of the prompt's text
	Class   engine.Class
	Stream  bool
	Adapter int // LoRA adapter, from 1; 0: none
	Schema  int // grammar of the answer, from 1; 0: none
	Images  int
	Slow    bool // the client reads slower than tokens come
}

// Segment is a node of the prefix tree: so many tokens that are the same wherever its ID is.
// A request's segments are the path from the root. A segment may be longer in one request than
// in another: the shorter one is how the longer one begins, as with the turns of a conversation.
type Segment struct {
	ID     uint64
	Tokens int
}

// Source yields requests in order of arrival.
type Source interface {
	// Due is when the next request arrives; ok is false when none will, whatever is turned.
	Due() (at time.Duration, ok bool)
	// Take returns that request; it is the caller's until the next call.
	Take() *Request
	// Turned says that knobs were turned at a time that has come: the next request is drawn anew if it must be.
	Turned(now time.Duration)
}
