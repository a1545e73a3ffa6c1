package canary

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// timed is a transport in virtual time, which tells its trace what a real one does:
// dialling takes 20 ms, sending 1 ms, the head of the answer 30 ms, then come its parts,
// each after its pause. After the last one the body ends or, with hangs, waits for ever.
type timed struct {
	parts  []string
	pauses []time.Duration
	hangs  bool
}

func (s *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return &http.Response{StatusCode: 404, Body: http.NoBody, Request: r}, nil
	}
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn("gpu-7:8000")
	<-time.After(20 * time.Millisecond)
	trace.GotConn(httptrace.GotConnInfo{})
	<-time.After(time.Millisecond)
	trace.WroteRequest(httptrace.WroteRequestInfo{})
	<-time.After(30 * time.Millisecond)
	trace.GotFirstResponseByte()
	return &http.Response{StatusCode: 200, Body: &timedBody{timed: *s, ctx: r.Context()}, Request: r}, nil
}

type timedBody struct {
	timed
	ctx  context.Context
	next int
}

func (b *timedBody) Close() error { return nil }

func (b *timedBody) Read(p []byte) (int, error) {
	if b.next == len(b.parts) {
		if !b.hangs {
			return 0, io.EOF
		}
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	<-time.After(b.pauses[b.next])
	b.next++
	return copy(p, b.parts[b.next-1]), nil
}

func ms(n ...int) (d []time.Duration) {
	for _, n := range n {
		d = append(d, time.Duration(n)*time.Millisecond)
	}
	return d
}

// TestTimes: dialling is apart, all else counts from when the request was sent.
func TestTimes(t *testing.T) {
	all := tokens(4)
	for _, c := range []struct {
		name                         string
		stream                       timed
		chunks, ttft, itl, most, e2e float64
	}{
		{"a stream", timed{parts: all, pauses: ms(70, 100, 250, 100, 5)}, 4, 0.1, 0.15, 0.25, 0.555},
		{"two at a time", timed{parts: []string{all[0] + all[1], all[2] + all[3], all[4]}, pauses: ms(70, 100, 1)}, 2, 0.1, 0.05, 0.1, 0.201},
		{"all at once", timed{parts: []string{strings.Join(all, "")}, pauses: ms(570)}, 1, 0.6, -1, -1, 0.6},
		{"cut within a token", timed{parts: []string{all[0][:20], all[0][20:] + all[1][:9], all[1][9:] + all[2] + all[3] + all[4]}, pauses: ms(10, 60, 100)}, 2, 0.1, 0.1 / 3, 0.1, 0.2},
		{"a ping first", timed{parts: append([]string{": ping\n\n"}, all...), pauses: ms(10, 60, 100, 100, 100, 0)}, 4, 0.1, 0.1, 0.1, 0.4},
		{"it ends and is kept open", timed{parts: all[:4], pauses: ms(70, 100, 100, 100), hangs: true}, 4, 0.1, 0.1, 0.1, 0.4},
	} {
		synctest.Test(t, func(t *testing.T) {
			got, err := ask(t, New("http://gpu-7:8000", Options{Transport: &c.stream}))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for _, v := range []struct {
				name      string
				got, want float64
			}{
				{"dial", got.DialSeconds.Or(-1), 0.02}, {"TTFT", got.TTFTSeconds.Or(-1), c.ttft}, {"ITL", got.ITLSeconds.Or(-1), c.itl},
				{"longest", got.MaxITL.Or(-1), c.most}, {"E2E", got.E2ESeconds.Or(-1), c.e2e}, {"chunks", got.Chunks.Or(-1), c.chunks}, {"tokens", got.Tokens.Or(-1), 4},
			} {
				if d := v.got - v.want; d > 1e-6 || d < -1e-6 {
					t.Errorf("%s: %s %g, want %g", c.name, v.name, v.got, v.want)
				}
			}
		})
	}
}

// TestHowFarItCame: an answer that takes too long is told with how far it came.
func TestHowFarItCame(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream timed
		want   string
	}{
		{"a head and no token", timed{hangs: true}, "no answer within 30s: context deadline exceeded; its head came after 30ms, no token"},
		{"two tokens", timed{parts: tokens(8)[:2], pauses: ms(10, 10), hangs: true}, "no answer within 30s: context deadline exceeded; 2 tokens had come"},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got, err := ask(t, New("http://gpu-7:8000", Options{Transport: &c.stream})); err == nil || got.Status != 200 || got.Err != c.want || got.DialSeconds.Or(0) != 0.02 {
				t.Errorf("%s: %+v, %v", c.name, got, err)
			}
		})
	}
}
