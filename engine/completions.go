package engine

import (
	"bytes"
	"encoding/json"
)

// completionRequest is the body of POST /v1/completions.
type completionRequest struct {
	params
	Prompt   json.RawMessage `json:"prompt"`
	Echo     bool            `json:"echo"`
	Suffix   string          `json:"suffix"`
	Logprobs *int            `json:"logprobs"` // of so many tokens at each position, and of the sampled one

	text   string // of the prompt,
	tokens []int  // or its tokens
	isText bool
}

// maxCompletionLogprobs is OpenAI's.
const maxCompletionLogprobs = 5

func parseCompletion(body []byte) (generation, error) {
	var q completionRequest
	if err := decode(body, &q); err != nil {
		return nil, err
	}
	switch {
	case q.Echo:
		return nil, badParam("echo", "echo is not supported")
	case q.Suffix != "":
		return nil, badParam("suffix", "suffix is not supported")
	case q.Logprobs != nil && (*q.Logprobs < 0 || *q.Logprobs > maxCompletionLogprobs):
		return nil, badParam("logprobs", "logprobs is %d, must be between 0 and %d", *q.Logprobs, maxCompletionLogprobs)
	case q.Logprobs != nil:
		q.logprobs, q.topLogprobs = true, *q.Logprobs
	}
	if err := q.decodePrompt(); err != nil {
		return nil, err
	}
	return &q, q.check()
}

// decodePrompt takes a string, an array of one string, or an array of token ids.
func (q *completionRequest) decodePrompt() error {
	if len(q.Prompt) == 0 || string(q.Prompt) == "null" {
		return badParam("prompt", "prompt is missing")
	}
	var texts []string
	switch {
	case json.Unmarshal(q.Prompt, &q.text) == nil:
		q.isText = true
	case json.Unmarshal(q.Prompt, &q.tokens) == nil:
		if len(q.tokens) == 0 {
			return badParam("prompt", "prompt must not be empty")
		}
		if bytes.Contains(q.Prompt, []byte("null")) { // encoding/json takes null for token 0
			return badParam("prompt", "a token id is null")
		}
	case json.Unmarshal(q.Prompt, &texts) != nil:
		return badParam("prompt", "prompt must be a string or an array of token ids")
	case len(texts) != 1:
		return badParam("prompt", "prompt has %d texts; this engine takes one a request", len(texts))
	default:
		q.text, q.isText = texts[0], true
	}
	return nil
}

func (q *completionRequest) common() *params { return &q.params }

func (q *completionRequest) bytes() int { return len(q.text) }

// tokenize encodes the prompt as it is, control tokens included: whoever uses
// this endpoint writes the template as well.
func (q *completionRequest) tokenize(e *encoder) ([][]int, error) {
	if !q.isText {
		return [][]int{q.tokens}, nil
	}
	ids, err := e.encode(q.text, true)
	return [][]int{ids}, err
}

func (q *completionRequest) assemble(e *encoder, texts [][]int) []int {
	if !q.isText {
		return texts[0]
	}
	return append(append([]int(nil), e.tokenizer.Begin()...), texts[0]...)
}

// defaultMaxTokens is OpenAI's.
func (q *completionRequest) defaultMaxTokens() int { return 16 }

func (q *completionRequest) format() format { return format{param: "prompt"} }
