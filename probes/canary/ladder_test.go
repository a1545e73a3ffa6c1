package canary

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"llmtop/probes"
)

// server is a stand-in for an engine: it knows some APIs, one model, and which members
// of a request it refuses.
type server struct {
	model   string
	streams map[string]string // path → answer
	refuses string            // a member
	asked   []string
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.URL.Path)
	if r.URL.Path == "/v1/models" && s.model != "" {
		fmt.Fprintf(w, `{"data":[{"id":%q},{"id":"second"}]}`, s.model)
		return
	}
	var body map[string]any
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "no JSON", http.StatusTeapot)
		return
	}
	answer := s.streams[r.URL.Path]
	if name, named := body["model"]; answer == "" || named && name != s.model {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if _, has := body[s.refuses]; has {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	io.WriteString(w, answer)
}

const (
	chatStream = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"delta":{"reasoning_content":"One"}}]}

data: {"choices":[{"delta":{"content":" two"},"finish_reason":"length"}]}

data: [DONE]

`
	tgiStream = "data:{\"token\":{\"text\":\"One\"},\"generated_text\":null,\"details\":null}\r\n\r\ndata:{\"token\":{\"text\":\" two\"},\"generated_text\":\"One two\",\"details\":{\"generated_tokens\":2}}\r\n\r\n"
	cppStream = "data: {\"content\":\"One\",\"stop\":false}\n\ndata: {\"content\":\" two\",\"stop\":false}\n\ndata: {\"content\":\"\",\"stop\":true,\"tokens_predicted\":2}\n\n"
)

func TestLadder(t *testing.T) {
	cases := []struct {
		name    string
		server  server
		tokens  float64
		asked   string // the first time
		again   string // the second time
		problem string
	}{
		{"completions", server{model: "m", streams: map[string]string{"/v1/completions": strings.Join(tokens(8), "")}}, 8,
			"/v1/models /v1/completions", "/v1/completions", ""},
		{"it refuses ignore_eos", server{model: "m", refuses: "ignore_eos", streams: map[string]string{"/v1/completions": strings.Join(tokens(8), "")}}, 8,
			"/v1/models /v1/completions /v1/completions", "/v1/completions", ""},
		{"chat alone", server{model: "m", streams: map[string]string{"/v1/chat/completions": chatStream}}, 2,
			"/v1/models /v1/completions /v1/chat/completions", "/v1/chat/completions", ""},
		{"chat alone, strict", server{model: "m", refuses: "stream_options", streams: map[string]string{"/v1/chat/completions": chatStream}}, 2,
			"/v1/models /v1/completions /v1/chat/completions /v1/chat/completions", "/v1/chat/completions", ""},
		{"TGI", server{streams: map[string]string{"/generate_stream": tgiStream}}, 2,
			"/v1/models /v1/completions /v1/models /v1/chat/completions /generate_stream", "/v1/models /generate_stream", ""},
		{"llama.cpp", server{streams: map[string]string{"/completion": cppStream}}, 2,
			"/v1/models /v1/completions /v1/models /v1/chat/completions /generate_stream /completion", "/v1/models /completion", ""},
		{"none", server{}, 0,
			"/v1/models /v1/completions /v1/models /v1/chat/completions /generate_stream /completion", "/v1/models /v1/completions /v1/models /v1/chat/completions /generate_stream /completion",
			"not exposed: none of the APIs that a canary can ask (OpenAI's, TGI's, llama.cpp's)"},
		{"everything is refused", server{model: "m", refuses: "prompt", streams: map[string]string{"/v1/completions": "x"}}, 0,
			"/v1/models /v1/completions /v1/completions /v1/chat/completions /generate_stream /completion", "/v1/completions /v1/completions /v1/chat/completions /v1/models /generate_stream /completion",
			"the server answered 400 Bad Request"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := c.server
			p := New(serve(t, s.serve), Options{})
			for _, want := range []string{c.asked, c.again} {
				s.asked = nil
				got, err := ask(t, p)
				if got.Tokens.Or(0) != c.tokens || got.Err != c.problem || (err != nil) != (c.problem != "") {
					t.Errorf("%+v, %v", got, err)
				}
				if asked := strings.Join(s.asked, " "); asked != want {
					t.Errorf("asked %s, want %s", asked, want)
				}
			}
		})
	}
}

// TestModelIsAskedForAgain: another model is served now; the server that answers 404 for
// it is not taken for one without the API.
func TestModelIsAskedForAgain(t *testing.T) {
	s := &server{model: "old", streams: map[string]string{"/v1/completions": strings.Join(tokens(8), "")}}
	p := New(serve(t, s.serve), Options{})
	ask(t, p)
	s.model, s.asked = "new", nil
	c, err := ask(t, p)
	if err != nil || c.Tokens.Or(0) != 8 || p.model != "new" || strings.Join(s.asked, " ") != "/v1/completions /v1/models /v1/completions" {
		t.Errorf("%+v, %v; model %q, asked %s", c, err, p.model, s.asked)
	}
	if c.Sent.Or(0) != 2 || c.Failed.Or(-1) != 0 {
		t.Errorf("counted %+v", c)
	}
}

func TestFirstModel(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"data":[{"id":"a/b"},{"id":"c"}]}`, "a/b"},
		{`{"data":[{"id":7},{"id":"c"}]}`, "c"},
		{`{"data":[{"id":"` + strings.Repeat("x", 600) + `"}]}`, ""},
		{`{"data":{}}`, ""}, {`[]`, ""}, {``, ""}, {`<html>`, ""},
	} {
		if got := firstModel([]byte(c.body)); got != c.want {
			t.Errorf("%.40s: got %q, want %q", c.body, got, c.want)
		}
	}
}

// TestRequests: what is sent is small, fixed and recognizable.
func TestRequests(t *testing.T) {
	for _, a := range apis {
		body := string(a.request("some/model"))
		if len(body) > 300 || !strings.Contains(body, promptText) || strings.Contains(body, "some/model") != a.model || a.model && !strings.Contains(body, `"user":"llmtop-canary"`) {
			t.Errorf("%s: %s", a.path, body)
		}
		if strings.Contains(string(a.request("")), `"model"`) {
			t.Errorf("%s: a model that is not known is named", a.path)
		}
	}
}

var _ probes.Probe = (*Probe)(nil)
