package engine

import (
	"encoding/json"
	"math"
	"strings"
)

// chatRequest is the body of POST /v1/chat/completions.
type chatRequest struct {
	params
	MaxCompletionTokens *int      `json:"max_completion_tokens"`
	Logprobs            bool      `json:"logprobs"`
	TopLogprobs         *int      `json:"top_logprobs"`
	Messages            []message `json:"messages"`

	turns []chatTurn // Messages as the model's template has them
}

// maxTopLogprobs is OpenAI's.
const maxTopLogprobs = 20

type message struct {
	Role    string   `json:"role"`
	Content *content `json:"content"`
}

// UnmarshalJSON begins with an empty message: of a key that comes twice the last one
// counts, and encoding/json would leave in it what the first one had said.
func (m *message) UnmarshalJSON(raw []byte) error {
	type plain message
	var p plain
	err := json.Unmarshal(raw, &p)
	*m = message(p)
	return err
}

// content is a message's text: a string, or an array of parts of type text.
type content string

// UnmarshalJSON joins the parts.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil || parts == nil {
		return badParam("messages", "the content of a message must be a string or an array of text parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return badParam("messages", "a part of a message is no text; this model reads text only")
		}
		b.WriteString(*p.Text)
	}
	*c = content(b.String())
	return nil
}

func parseChat(body []byte) (generation, error) {
	var q chatRequest
	if err := decode(body, &q); err != nil {
		return nil, err
	}
	if err := q.decode(); err != nil {
		return nil, err
	}
	if len(q.Messages) == 0 {
		return nil, badParam("messages", "messages must not be empty")
	}
	for i, m := range q.Messages {
		if err := m.check(i); err != nil {
			return nil, err
		}
	}
	return &q, q.check()
}

// decode brings what this endpoint calls by its own names into the common parameters.
func (q *chatRequest) decode() error {
	switch n := q.MaxCompletionTokens; {
	case n != nil && *n < 1:
		return badParam("max_completion_tokens", "max_completion_tokens is %d, must be at least 1", *n)
	case n != nil:
		q.MaxTokens = n
	}
	q.logprobs = q.Logprobs
	switch n := q.TopLogprobs; {
	case n == nil:
	case *n < 0 || *n > maxTopLogprobs:
		return badParam("top_logprobs", "top_logprobs is %d, must be between 0 and %d", *n, maxTopLogprobs)
	case *n > 0 && !q.Logprobs:
		return badParam("top_logprobs", "top_logprobs needs logprobs")
	default:
		q.topLogprobs = *n
	}
	return nil
}

func (m message) check(i int) error {
	switch m.Role {
	case "system", "developer", "user", "assistant":
	case "":
		return badParam("messages", "message %d has no role", i)
	default:
		return badParam("messages", "message %d has an unknown role; known are system, developer, user and assistant", i)
	}
	if m.Content == nil {
		return badParam("messages", "message %d has no content", i)
	}
	return nil
}

func (q *chatRequest) common() *params { return &q.params }

func (q *chatRequest) bytes() (n int) {
	for _, m := range q.Messages {
		n += len(*m.Content)
	}
	return n
}

// tokenize encodes the messages one by one. Control tokens in them are plain text:
// nobody can end a turn or speak for another role from inside a message.
func (q *chatRequest) tokenize(e *encoder) (texts [][]int, err error) {
	if e.template == nil {
		return nil, errNoTemplate
	}
	q.turns = e.template.format.turns(q.Messages)
	for _, t := range q.turns {
		ids, err := e.encode(t.text, false)
		if err != nil {
			return nil, err
		}
		texts = append(texts, ids)
	}
	return texts, nil
}

func (q *chatRequest) assemble(e *encoder, texts [][]int) []int {
	if e.config.Assemble == Naive {
		return e.template.rebuilt(e, q.turns, texts)
	}
	return e.template.prompt(q.turns, texts)
}

// defaultMaxTokens: an answer may take all of the context.
func (q *chatRequest) defaultMaxTokens() int { return math.MaxInt }

func (q *chatRequest) format() format { return format{chat: true, param: "messages"} }
