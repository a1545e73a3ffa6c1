package engine

import "encoding/json"

// format writes answers in the shape of one endpoint.
type format struct {
	chat    bool
	param   string // the name of the parameter that holds the prompt
	id      string // of the answer
	model   string
	created int64 // Unix seconds
	usage   bool  // chunks of a stream mention usage

	logprobs bool // wanted
	bytes    func(token int) []byte
}

// usage is OpenAI's count of tokens.
type usage struct {
	PromptTokens     int         `json:"prompt_tokens"`
	CompletionTokens int         `json:"completion_tokens"`
	TotalTokens      int         `json:"total_tokens"`
	PromptDetails    usageDetail `json:"prompt_tokens_details"`
}

// usageDetail tells how many tokens of the prompt were found in the prefix cache.
type usageDetail struct {
	CachedTokens int `json:"cached_tokens"`
}

func newUsage(prompt, cached, output int) *usage {
	return &usage{prompt, output, prompt + output, usageDetail{cached}}
}

// response is the body of an answer or a chunk of one.
type response struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage,omitempty"` // null in a chunk of a stream that ends with it
}

type choice struct {
	Index        int     `json:"index"`
	Text         *string `json:"text,omitempty"`    // completions
	Message      *turn   `json:"message,omitempty"` // chat, whole
	Delta        *turn   `json:"delta,omitempty"`   // chat, chunk
	Logprobs     any     `json:"logprobs"`          // null: not wanted, or none here
	FinishReason *Finish `json:"finish_reason"`
}

type turn struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

// whole is a complete answer.
func (f format) whole(p piece, u *usage) response {
	c := choice{FinishReason: &p.finish}
	if f.logprobs {
		c.Logprobs = f.probabilities(p.logprobs)
	}
	if f.chat {
		c.Message = &turn{Role: "assistant", Content: &p.text}
	} else {
		c.Text = &p.text
	}
	return f.response("chat.completion", c, rawJSON(u))
}

// chunk is a part of a stream; first is the one that names the role.
func (f format) chunk(p piece, first bool) response {
	c := choice{}
	if p.finish != "" {
		c.FinishReason = &p.finish
	}
	if len(p.logprobs) > 0 {
		c.Logprobs = f.probabilities(p.logprobs)
	}
	switch {
	case !f.chat:
		c.Text = &p.text
	case first:
		c.Delta = &turn{Role: "assistant", Content: &p.text}
	case p.text == "":
		c.Delta = &turn{}
	default:
		c.Delta = &turn{Content: &p.text}
	}
	r := f.response("chat.completion.chunk", c, nil)
	if f.usage {
		r.Usage = json.RawMessage("null")
	}
	return r
}

// total is the chunk after the last, with the number of tokens.
func (f format) total(u *usage) response {
	r := f.response("chat.completion.chunk", choice{}, rawJSON(u))
	r.Choices = []choice{}
	return r
}

func (f format) response(chatObject string, c choice, u json.RawMessage) response {
	object := "text_completion"
	if f.chat {
		object = chatObject
	}
	return response{ID: f.id, Object: object, Created: f.created, Model: f.model, Choices: []choice{c}, Usage: u}
}

func rawJSON(u *usage) json.RawMessage {
	b, err := json.Marshal(u)
	if err != nil {
		panic("marshalling integers: " + err.Error())
	}
	return b
}
