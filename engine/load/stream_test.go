package load

import (
	"strings"
	"testing"
	"time"
)

// counting is a clock that moves on by a second a look.
func counting() func() time.Time {
	t := time.Unix(0, 0)
	return func() time.Time { t = t.Add(time.Second); return t }
}

func TestStream(t *testing.T) {
	const (
		role   = `data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
		hello  = `data: {"choices":[{"delta":{"content":"Hello"}}]}` + "\n\n"
		think  = `data:{"choices":[{"delta":{"reasoning_content":"Hm"}}]}` + "\r\n\r\n"
		finish = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		usage  = `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}` + "\n\n"
		done   = "data: [DONE]\n\n"
	)
	cases := []struct {
		name, in, kind string
		chunks, tokens int
	}{
		{"whole", role + hello + hello + finish + usage + done, "", 2, 9},
		{"reasoning, CRLF, comments", ": ping\n\nevent: x\n" + think + hello + finish + usage + done, "", 2, 9},
		{"no usage", hello + finish + done, "", 1, 0},
		{"no done", hello + finish, "", 1, 0},
		{"usage null", `data: {"choices":[],"usage":null,"error":null}` + "\n\n" + done, "", 0, 0},
		{"negative usage", `data: {"usage":{"completion_tokens":-5}}` + "\n\n" + done, "", 0, 0},
		{"cut short", role + hello, "broken stream", 1, 0},
		{"cut in an event", hello + `data: {"choi`, "malformed stream", 1, 0},
		{"nothing", "", "broken stream", 0, 0},
		{"HTML", "<html>\n<body>\n", "broken stream", 0, 0},
		{"error event", hello + `data: {"error":{"message":"engine died"}}` + "\n\n", "engine error", 1, 0},
		{"a line without end", "data: " + strings.Repeat("x", maxLine+1), "broken stream", 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s stream
			kind, err := s.read(strings.NewReader(c.in), counting())
			if kind != c.kind || (err != nil) != (c.kind != "") || s.chunks != c.chunks || s.outputTokens != c.tokens {
				t.Errorf("%q, %v, %+v; want kind %q, %d chunks, %d tokens", kind, err, s, c.kind, c.chunks, c.tokens)
			}
			if took := s.last.Sub(s.first); took != time.Duration(max(0, c.chunks-1))*time.Second {
				t.Errorf("%v between the first and the last text of %d", took, c.chunks)
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n")
	f.Add("data: {\"error\":\"\x1b[2J\"}\n")
	f.Fuzz(func(t *testing.T, in string) {
		var s stream
		kind, err := s.read(strings.NewReader(in), counting())
		if (kind == "") != (err == nil) {
			t.Fatalf("kind %q with error %v", kind, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("control bytes in %q", err)
		}
	})
}
