package engine

import (
	"strings"
	"testing"
)

// What would change the answer is refused by its name; what asks for nothing, or is
// unknown, is not.
func TestUnsupported(t *testing.T) {
	for _, more := range []string{
		`"n":2`, `"n":"two"`, `"best_of":2`, `"presence_penalty":0.5`, `"frequency_penalty":-1`, `"repetition_penalty":1.1`, `"length_penalty":2`,
		`"logit_bias":{"5":-100}`, `"tools":[{"type":"function"}]`, `"tool_choice":"required"`, `"tool_choice":{"type":"function"}`,
		`"functions":[{}]`, `"function_call":{"name":"f"}`, `"response_format":{"type":"json_object"}`, `"structured_outputs":{"json":{}}`,
		`"guided_json":{"type":"object"}`, `"guided_regex":"a"`, `"guided_choice":["a"]`, `"guided_grammar":"x"`, `"modalities":["text","audio"]`,
		`"audio":{"voice":"x"}`, `"use_beam_search":true`, `"min_tokens":3`, `"stop_token_ids":[5]`, `"include_stop_str_in_output":true`,
		`"bad_words":["x"]`, `"allowed_token_ids":[1]`, `"prompt_logprobs":1`, `"truncate_prompt_tokens":5`, `"chat_template":"x"`,
		`"continue_final_message":true`, `"prompt_embeds":"x"`, `"presence_penalty":1e999`,
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(more, `"`), `"`)
		for _, err := range parseBoth(more) {
			if err == nil || toAPI(err).param != name || toAPI(err).status != 400 || !strings.HasPrefix(err.Error(), name+" ") {
				t.Errorf("%s: %v", more, err)
			}
		}
	}
	for _, more := range []string{
		`"n":1`, `"n":1.0`, `"n":null`, `"best_of":1`, `"presence_penalty":0`, `"frequency_penalty":0.0`, `"repetition_penalty":1`, `"logit_bias":{}`,
		`"tools":[]`, `"tools":null`, `"tool_choice":"none"`, `"tool_choice":"auto"`, `"response_format":{ "type": "text" }`, `"modalities":["text"]`,
		`"min_tokens":0`, `"use_beam_search":false`, `"user":"me"`, `"store":true`, `"metadata":{"a":"b"}`, `"service_tier":"auto"`, `"whatever":[1,2]`,
	} {
		for _, err := range parseBoth(more) {
			if err != nil {
				t.Errorf("%s: %v", more, err)
			}
		}
	}
}

// parseBoth parses a request of either endpoint with a further parameter.
func parseBoth(more string) (errs []error) {
	_, chat := parseChat([]byte(`{"messages":[{"role":"user","content":"x"}],` + more + `}`))
	_, completion := parseCompletion([]byte(`{"prompt":"x",` + more + `}`))
	return []error{chat, completion}
}

func TestClassesOfRequests(t *testing.T) {
	for more, want := range map[string]Class{
		`"priority":-1`: Realtime, `"priority":-99999`: Realtime, `"priority":0`: Normal, `"priority":null`: Normal, `"seed":1`: Normal,
		`"priority":1`: Background, `"priority":500`: Background, `"priority":"realtime"`: Realtime, `"priority":"normal"`: Normal, `"priority":"background"`: Background,
	} {
		g, err := parseCompletion([]byte(`{"prompt":"x",` + more + `}`))
		if err != nil || g.common().class != want {
			t.Errorf("%s: %v, want %s", more, err, want)
		}
	}
}
