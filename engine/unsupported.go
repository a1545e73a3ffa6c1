package engine

import (
	"cmp"
	"encoding/json"
)

// unsupported are parameters of OpenAI's API and of vLLM's that this engine cannot
// honour and that would change the answer. They are refused by name: an answer that
// silently differs from what was asked for is worse than none. Whatever else is
// unknown is ignored.
type unsupported struct {
	N                 json.RawMessage `json:"n"`
	BestOf            json.RawMessage `json:"best_of"`
	PresencePenalty   json.RawMessage `json:"presence_penalty"`
	FrequencyPenalty  json.RawMessage `json:"frequency_penalty"`
	RepetitionPenalty json.RawMessage `json:"repetition_penalty"`
	LengthPenalty     json.RawMessage `json:"length_penalty"`
	LogitBias         json.RawMessage `json:"logit_bias"`
	Tools             json.RawMessage `json:"tools"`
	ToolChoice        json.RawMessage `json:"tool_choice"`
	Functions         json.RawMessage `json:"functions"`
	FunctionCall      json.RawMessage `json:"function_call"`
	ResponseFormat    json.RawMessage `json:"response_format"`
	StructuredOutputs json.RawMessage `json:"structured_outputs"`
	GuidedJSON        json.RawMessage `json:"guided_json"`
	GuidedRegex       json.RawMessage `json:"guided_regex"`
	GuidedChoice      json.RawMessage `json:"guided_choice"`
	GuidedGrammar     json.RawMessage `json:"guided_grammar"`
	Modalities        json.RawMessage `json:"modalities"`
	Audio             json.RawMessage `json:"audio"`
	UseBeamSearch     json.RawMessage `json:"use_beam_search"`
	MinTokens         json.RawMessage `json:"min_tokens"`
	StopTokenIDs      json.RawMessage `json:"stop_token_ids"`
	IncludeStop       json.RawMessage `json:"include_stop_str_in_output"`
	BadWords          json.RawMessage `json:"bad_words"`
	AllowedTokenIDs   json.RawMessage `json:"allowed_token_ids"`
	PromptLogprobs    json.RawMessage `json:"prompt_logprobs"`
	TruncatePrompt    json.RawMessage `json:"truncate_prompt_tokens"`
	ChatTemplate      json.RawMessage `json:"chat_template"`
	ContinueMessage   json.RawMessage `json:"continue_final_message"`
	PromptEmbeds      json.RawMessage `json:"prompt_embeds"`
}

// check refuses the first parameter whose value asks for something.
func (u *unsupported) check() error {
	for _, p := range []struct {
		name   string
		value  json.RawMessage
		usual  []string // values that ask for nothing, beside null, false, 0 and what is empty
		reason string
	}{
		{"n", u.N, []string{"1"}, "must be 1: this engine gives one answer a request"},
		{"best_of", u.BestOf, []string{"1"}, "must be 1: this engine gives one answer a request"},
		{"presence_penalty", u.PresencePenalty, nil, ""},
		{"frequency_penalty", u.FrequencyPenalty, nil, ""},
		{"repetition_penalty", u.RepetitionPenalty, []string{"1"}, ""},
		{"length_penalty", u.LengthPenalty, []string{"1"}, ""},
		{"logit_bias", u.LogitBias, nil, ""},
		{"tools", u.Tools, nil, "is not supported: this model calls no tools"},
		{"tool_choice", u.ToolChoice, []string{`"none"`, `"auto"`}, "is not supported: this model calls no tools"},
		{"functions", u.Functions, nil, "is not supported: this model calls no functions"},
		{"function_call", u.FunctionCall, []string{`"none"`, `"auto"`}, "is not supported: this model calls no functions"},
		{"response_format", u.ResponseFormat, []string{`{"type":"text"}`}, "is not supported: this engine answers with plain text"},
		{"structured_outputs", u.StructuredOutputs, nil, "is not supported: this engine answers with plain text"},
		{"guided_json", u.GuidedJSON, nil, "is not supported: this engine answers with plain text"},
		{"guided_regex", u.GuidedRegex, nil, "is not supported: this engine answers with plain text"},
		{"guided_choice", u.GuidedChoice, nil, "is not supported: this engine answers with plain text"},
		{"guided_grammar", u.GuidedGrammar, nil, "is not supported: this engine answers with plain text"},
		{"modalities", u.Modalities, []string{`["text"]`}, "is not supported: this engine answers with plain text"},
		{"audio", u.Audio, nil, "is not supported: this engine answers with plain text"},
		{"use_beam_search", u.UseBeamSearch, nil, ""},
		{"min_tokens", u.MinTokens, nil, ""},
		{"stop_token_ids", u.StopTokenIDs, nil, ""},
		{"include_stop_str_in_output", u.IncludeStop, nil, ""},
		{"bad_words", u.BadWords, nil, ""},
		{"allowed_token_ids", u.AllowedTokenIDs, nil, ""},
		{"prompt_logprobs", u.PromptLogprobs, nil, ""},
		{"truncate_prompt_tokens", u.TruncatePrompt, nil, ""},
		{"chat_template", u.ChatTemplate, nil, "is not supported: the model's own template is used"},
		{"continue_final_message", u.ContinueMessage, nil, ""},
		{"prompt_embeds", u.PromptEmbeds, nil, ""},
	} {
		if asks(p.value, p.usual) {
			return badParam(p.name, "%s %s", p.name, cmp.Or(p.reason, "is not supported by this engine"))
		}
	}
	return nil
}

// asks reports whether a value is another than null, false, 0, something empty or one of the usual ones.
func asks(raw json.RawMessage, usual []string) bool {
	if len(raw) == 0 {
		return false
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return true // a number that no float holds
	}
	if empty(v) {
		return false
	}
	same, err := json.Marshal(v) // 1.0 is 1, and blanks do not count
	if err != nil {
		return true
	}
	for _, u := range usual {
		if string(same) == u {
			return false
		}
	}
	return true
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
