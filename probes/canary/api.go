package canary

import (
	"encoding/json"
	"maps"
)

// answerTokens is how long an answer is asked for: enough to tell a stream from one
// that was held back, short enough to cost the engine nothing to speak of.
const answerTokens = 8

// The prompt and the name that requests bear.
const (
	promptText = "Count from one to nine."
	userName   = "llmtop-canary"
)

// api is one way to ask an engine for a stream of tokens.
type api struct {
	path  string
	model bool           // the body names the model
	body  map[string]any // the rest of it
}

// extras make the answer as long as asked for and have its tokens counted; servers that
// refuse what they do not know get the same request without them.
var extras = map[string]any{"ignore_eos": true, "stream_options": map[string]any{"include_usage": true}}

var completion = map[string]any{"prompt": promptText, "max_tokens": answerTokens, "temperature": 0, "stream": true, "user": userName}

var chat = map[string]any{"messages": []map[string]string{{"role": "user", "content": promptText}},
	"max_tokens": answerTokens, "temperature": 0, "stream": true, "user": userName}

// apis in the order they are tried: OpenAI's, which all engines but the oldest have,
// then TGI's and llama.cpp's own.
var apis = []api{
	{"/v1/completions", true, with(completion, extras)},
	{"/v1/completions", true, completion},
	{"/v1/chat/completions", true, with(chat, extras)},
	{"/v1/chat/completions", true, chat},
	{"/generate_stream", false, map[string]any{"inputs": promptText, "parameters": map[string]any{"max_new_tokens": answerTokens, "do_sample": false}}},
	{"/completion", false, map[string]any{"prompt": promptText, "n_predict": answerTokens, "temperature": 0, "stream": true, "ignore_eos": true}},
}

func with(a, b map[string]any) map[string]any {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// request is the JSON to send; model may be empty.
func (a *api) request(model string) []byte {
	body := a.body
	if a.model && model != "" {
		body = with(body, map[string]any{"model": model})
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic("marshalling texts and numbers: " + err.Error())
	}
	return b
}
