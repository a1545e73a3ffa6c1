package canary

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// parsed is all events of a stream that comes in parts of n bytes.
func parsed(stream []byte, n int) (out []string, err error) {
	e := events{handle: func(name string, data []byte) error {
		out = append(out, fmt.Sprintf("%s|%s", name, data))
		if string(data) == "[DONE]" {
			return errDone
		}
		return nil
	}}
	for len(stream) > 0 && err == nil {
		part := stream[:min(n, len(stream))]
		stream = stream[len(part):]
		err = e.write(part)
		if len(e.line) > maxLine || len(e.data) > maxLine {
			panic("more than the limit is kept")
		}
	}
	if err == nil {
		err = e.close()
	}
	return out, err
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"LF", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"no blank", "data:a\n\n", []string{"|a"}},
		{"two lines", "data: a\ndata: b\n\n", []string{"|a\nb"}},
		{"comments, ids", ": ping\n\nid: 7\nretry: 10\ndata: a\n\n", []string{"|a"}},
		{"a name", "event: error\ndata: a\n\ndata: b\n\n", []string{"error|a", "|b"}},
		{"llama.cpp's error", "error: {}\n\n", []string{"error|{}"}},
		{"a mark of bytes", "\ufeffdata: a\n\n", []string{"|a"}},
		{"no end", "data: a", []string{"|a"}},
		{"empty data", "data\n\n", []string{"|"}},
		{"done", "data: [DONE]\n\ndata: b\n\n", []string{"|[DONE]"}},
		{"nothing", "\n\n\n", nil},
	} {
		for n := 1; n <= len(c.stream); n++ {
			if got, _ := parsed([]byte(c.stream), n); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s in parts of %d: got %q, want %q", c.name, n, got, c.want)
			}
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	for _, stream := range []string{strings.Repeat("x", maxLine+1), strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 70)} {
		if _, err := parsed([]byte(stream), 100); err != errLine {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\nevent: x\ndata: b\rdata: c\n\n: ping\n\ndata: [DONE]\n\n"), 3)
	f.Add([]byte(chatStream), 7)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		n = max(1, n%64)
		whole, err := parsed(stream, len(stream)+1)
		parts, err2 := parsed(stream, n)
		if fmt.Sprint(whole) != fmt.Sprint(parts) || err != err2 {
			t.Errorf("whole %q %v, in parts of %d %q %v", whole, err, n, parts, err2)
		}
	})
}

// FuzzAnswer: whatever comes, counts stay within bounds and nothing panics.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{chatStream, tgiStream, cppStream, strings.Join(tokens(3), ""), `data: {"choices":7,"usage":"x","error":[]}` + "\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		m := &meter{}
		err := m.read(bytes.NewReader(stream))
		if n := m.answer.count(); n < 0 || n > max(maxTold, m.answer.tokens) || m.reads > m.answer.tokens {
			t.Errorf("%d tokens in %d reads", n, m.reads)
		}
		if err == nil && m.answer.tokens == 0 {
			t.Error("no token and no error")
		}
	})
}

func TestErrorKind(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"error":{"message":"m","type":"BadRequestError","code":400}}`, "BadRequestError"},
		{`{"error":{"code":"queue_full","type":"rate_limit_error"}}`, "queue_full"},
		{`{"object":"error","type":"NotFoundError","message":"m"}`, "NotFoundError"},
		{`{"error":"Model is overloaded","error_type":"overloaded"}`, "overloaded"},
		{`{"error":{"code":"a sentence with sk-1234"}}`, ""}, {`[]`, ""}, {`x`, ""}, {`{"error":null}`, ""},
	} {
		if got := errorKind([]byte(c.body)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.body, got, c.want)
		}
	}
}
