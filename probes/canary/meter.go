package canary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"sync"
	"time"

	"llmtop/probes"
)

const (
	maxAnswer = 1 << 20 // bytes of an answer that are read
	tooLong   = 8       // an answer of so many times the tokens asked for has no end
)

var (
	errNoStream = errors.New("no stream of tokens")
	errEndless  = fmt.Errorf("the answer goes on after %d tokens, %d were asked for: broken off", tooLong*answerTokens, answerTokens)
	errLarge    = fmt.Errorf("the answer is larger than %d MiB: broken off", maxAnswer>>20)
	errEarly    = errors.New("the answer broke off before its end")
)

// meter takes the times of one request.
type meter struct {
	began time.Time

	mu        sync.Mutex // the trace is called from goroutines of the transport
	dialling  time.Time
	dialled   time.Duration
	sent      time.Time // the request was written
	firstByte time.Time // of the answer

	answer      answer
	reads       int // with tokens in them
	inFirst     int // tokens of the first of them
	first, last time.Time
	longest     time.Duration // between two of them
	finished    time.Time     // the answer said that it is complete
	end         time.Time
}

// trace notes what the transport does. Dialling is all until the connection stands:
// the host's address, connect, TLS.
func (m *meter) trace() *httptrace.ClientTrace {
	note := func(set func(now time.Time)) {
		now := time.Now()
		m.mu.Lock()
		defer m.mu.Unlock()
		set(now)
	}
	return &httptrace.ClientTrace{
		GetConn: func(string) { note(func(now time.Time) { m.dialling = now }) },
		GotConn: func(info httptrace.GotConnInfo) {
			note(func(now time.Time) {
				if !info.Reused {
					m.dialled = now.Sub(m.dialling)
				}
			})
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { note(func(now time.Time) { m.sent = now }) },
		GotFirstResponseByte: func() { note(func(now time.Time) { m.firstByte = now }) },
	}
}

// read reads the answer to its end.
func (m *meter) read(body io.Reader) error {
	parser := events{handle: m.answer.event}
	buf := make([]byte, 16<<10)
	for total := 0; ; {
		n, err := body.Read(buf)
		now, before := time.Now(), m.answer.tokens
		total += n
		wrong := parser.write(buf[:n])
		if err == io.EOF && wrong == nil {
			wrong = parser.close()
		}
		m.took(now, m.answer.tokens-before)
		if m.answer.finished && m.finished.IsZero() {
			m.finished = now
		}
		switch {
		case wrong == errDone:
			return m.ended(now)
		case wrong != nil:
			return wrong
		case total > maxAnswer:
			return errLarge
		case m.answer.tokens > tooLong*answerTokens:
			return errEndless
		case err == io.EOF && !m.answer.finished && m.answer.tokens > 0:
			return errEarly
		case err == io.EOF:
			return m.ended(now)
		case err != nil && m.answer.finished: // complete, and then left open or torn
			return m.ended(m.finished)
		case err != nil:
			return err
		}
	}
}

// took notes a read with so many tokens in it.
func (m *meter) took(now time.Time, tokens int) {
	if tokens == 0 {
		return
	}
	if m.reads++; m.reads == 1 {
		m.first, m.inFirst = now, tokens
	} else {
		m.longest = max(m.longest, now.Sub(m.last))
	}
	m.last = now
}

func (m *meter) ended(now time.Time) error {
	m.end = now
	if m.reads == 0 {
		return errNoStream
	}
	return nil
}

// late adds how far the answer had come to an error of one that took too long.
func (m *meter) late(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.reads > 0:
		return fmt.Errorf("%w; %d tokens had come", err, m.answer.tokens)
	case !m.firstByte.IsZero():
		return fmt.Errorf("%w; its head came after %s, no token", err, m.firstByte.Sub(m.sentAt()).Round(time.Millisecond))
	case !m.sent.IsZero():
		return fmt.Errorf("%w; the request was sent", err)
	}
	return fmt.Errorf("%w; no connection was made", err)
}

// sentAt is when the request was sent, or begun where the transport does not tell.
func (m *meter) sentAt() time.Time {
	if m.sent.IsZero() {
		return m.began
	}
	return m.sent
}

func (m *meter) dial(c *probes.Canary) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dialled > 0 {
		c.DialSeconds = probes.Some(probes.Seconds(m.dialled))
	}
}

// fill gives the times of an answer that came to its end. All but dialling count from
// when the request was sent. Tokens that came in one read have no time between them.
func (m *meter) fill(c *probes.Canary) {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := func(t time.Time) probes.Opt[float64] {
		return probes.Some(probes.Seconds(max(0, t.Sub(m.sentAt()))))
	}
	tokens := m.answer.count()
	c.Tokens, c.Chunks = probes.Some(float64(tokens)), probes.Some(float64(m.reads))
	c.TTFTSeconds, c.E2ESeconds = since(m.first), since(m.end)
	if m.reads > 1 && tokens > m.inFirst {
		c.ITLSeconds = probes.Some(probes.Seconds(m.last.Sub(m.first)) / float64(tokens-m.inFirst))
		c.MaxITL = probes.Some(probes.Seconds(m.longest))
	}
}
