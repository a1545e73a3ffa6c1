package canary

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// answer counts what an answer is made of.
type answer struct {
	tokens   int // events with text in them
	told     int // tokens, as the engine counts them; 0: not told
	finished bool
}

// said reports that a text is not empty, without keeping it.
type said bool

func (s *said) UnmarshalJSON(b []byte) error {
	*s = len(b) > 2 && b[0] == '"'
	return nil
}

// set reports that a member is something else than null, false, 0 or "".
type set bool

func (s *set) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null", "false", "0", `""`, "{}", "[]":
		*s = false
	default:
		*s = true
	}
	return nil
}

// chunk is an event of any of the apis.
type chunk struct {
	Choices []struct {
		Text  said `json:"text"`
		Delta struct {
			Content          said `json:"content"`
			Reasoning        said `json:"reasoning"`
			ReasoningContent said `json:"reasoning_content"`
		} `json:"delta"`
		FinishReason set `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		CompletionTokens float64 `json:"completion_tokens"`
	} `json:"usage"`

	Token struct { // TGI
		Text said `json:"text"`
	} `json:"token"`
	GeneratedText set `json:"generated_text"`
	Details       struct {
		GeneratedTokens float64 `json:"generated_tokens"`
	} `json:"details"`

	Content         said    `json:"content"` // llama.cpp
	Stop            set     `json:"stop"`
	TokensPredicted float64 `json:"tokens_predicted"`

	Error set `json:"error"`
}

// maxTold bounds the tokens that an engine may say a short answer has.
const maxTold = 100 * answerTokens

// event takes one event. errDone ends the stream; an error that the engine tells is an
// error of its kind, without its words.
func (a *answer) event(name string, data []byte) error {
	if string(data) == "[DONE]" {
		return errDone
	}
	var c chunk
	var kind *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &c); err != nil && !errors.As(err, &kind) {
		if name == "error" {
			return errors.New("the engine broke the answer off with an error")
		}
		return nil // text, HTML: no event of ours
	}
	if bool(c.Error) || name == "error" {
		if kind := errorKind(data); kind != "" {
			return fmt.Errorf("the engine broke the answer off with an error (%s)", kind)
		}
		return errors.New("the engine broke the answer off with an error")
	}
	text := c.Token.Text || c.Content
	for _, choice := range c.Choices {
		text = text || choice.Text || choice.Delta.Content || choice.Delta.Reasoning || choice.Delta.ReasoningContent
		a.finished = a.finished || bool(choice.FinishReason)
	}
	if text {
		a.tokens++
	}
	for _, told := range []float64{c.Usage.CompletionTokens, c.Details.GeneratedTokens} {
		if told >= 1 && told <= maxTold {
			a.told = int(told)
		}
	}
	if c.Stop {
		if n := c.TokensPredicted; n >= 1 && n <= maxTold {
			a.told = int(n)
		}
	}
	a.finished = a.finished || bool(c.GeneratedText) || bool(c.Stop)
	return nil
}

// count is the tokens of the answer. An engine counts those without text too (a part of
// a letter, the end); one that counts fewer than were seen is not believed.
func (a *answer) count() int { return max(a.told, a.tokens) }

// word is a name that an engine gives a kind of error: no sentence, no key.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z_]{1,39}$`)

// errorKind finds what kind of error an answer calls itself, in OpenAI's, vLLM's or
// TGI's manner; "" when it does not say.
func errorKind(body []byte) string {
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return ""
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(outer["error"], &inner) != nil {
		inner = nil
	}
	for _, raw := range []json.RawMessage{inner["code"], inner["type"], outer["error_type"], outer["type"]} {
		var s string
		if json.Unmarshal(raw, &s) == nil && word.MatchString(s) {
			return s
		}
	}
	return ""
}
