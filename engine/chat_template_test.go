package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmtop/engine/tokenizer"
)

// What the templates of model files look like, as far as the engine reads them.
const (
	oncallTemplate = `{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '<|assistant|>\n' + m['content'] + '\n<|end|>\n' }}{% else %}{{ '<|user|>\n' + m['content'] + '\n' }}{% endif %}{% endfor %}{{ '<|assistant|>\n' }}`
	chatMLTemplate = `{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}{{ '<|im_start|>assistant\n' }}`
	qwenTemplate   = `{%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}{%- else %}` +
		`{{- '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' }}{%- endif %}{{- '<|im_start|>assistant\n' }}`
	llama3Template  = `{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}`
	llama31Template = `{%- set date_string = "26 Jul 2024" %}{{- "Cutting Knowledge Date: December 2023\n" }}{{- "Today Date: " + date_string + "\n\n" }}` + llama3Template
)

// controls of all formats, in a vocabulary of bytes.
var controls = []string{"<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|begin_of_text|>", "<|user|>", "<|assistant|>", "<|end|>"}

// byteVocabulary has a token for each byte, at the byte's place, and the controls behind.
func byteVocabulary(t testing.TB, change func(v *tokenizer.Vocab)) vocabulary {
	t.Helper()
	v := tokenizer.Vocab{Kind: tokenizer.ByteLevel, Pre: "qwen2", BOS: -1, EOS: -1, EOT: -1, UNK: -1}
	next := rune(256)
	for b := range rune(256) {
		r := b
		if b < '!' || b > '~' && b < 0xA1 || b == 0xAD {
			r, next = next, next+1
		}
		v.Tokens, v.Types = append(v.Tokens, string(r)), append(v.Types, 1)
	}
	for _, c := range controls {
		v.Tokens, v.Types = append(v.Tokens, c), append(v.Types, 3)
	}
	if change != nil {
		change(&v)
	}
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return vocabulary{tok}
}

// written is a prompt as text, control tokens by name.
func written(v vocabulary, prompt []int) string {
	var b strings.Builder
	for _, id := range prompt {
		if id < 256 {
			b.WriteByte(byte(id))
		} else {
			b.WriteString(v.Token(id))
		}
	}
	return b.String()
}

// compiled makes the prompt of a chat.
func compiled(t testing.TB, v vocabulary, template, messages string) []int {
	t.Helper()
	c, err := compileTemplate(template, v)
	if err != nil {
		t.Fatal(err)
	}
	var list []message
	if err := json.Unmarshal([]byte(messages), &list); err != nil {
		t.Fatal(err)
	}
	turns := c.format.turns(list)
	var texts [][]int
	for _, turn := range turns {
		texts = append(texts, v.Encode(turn.text, false))
	}
	return c.prompt(turns, texts)
}

const conversation = `[{"role":"system","content":"Be brief."},{"role":"user","content":" Hi\n"},{"role":"assistant","content":"Hello!"},{"role":"user","content":"Why?"}]`

// The texts are the published formats, written out by hand.
func TestChatFormats(t *testing.T) {
	for _, c := range []struct {
		name, template, messages, want string
	}{
		{"built-in", oncallTemplate, conversation,
			"<|user|>\nBe brief.\n<|user|>\n Hi\n\n<|assistant|>\nHello!\n<|end|>\n<|user|>\nWhy?\n<|assistant|>\n"},
		{"ChatML", chatMLTemplate, conversation,
			"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"},
		{"ChatML without system", chatMLTemplate, `[{"role":"user","content":"Hi"}]`,
			"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{"ChatML, developer", chatMLTemplate, `[{"role":"developer","content":"d"},{"role":"user","content":"Hi"}]`,
			"<|im_start|>system\nd<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{"Qwen", qwenTemplate, conversation,
			"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"},
		{"Qwen without system", qwenTemplate, `[{"role":"user","content":"Hi"},{"role":"system","content":"late"}]`,
			"<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>system\nlate<|im_end|>\n<|im_start|>assistant\n"},
		{"Llama 3", llama3Template, conversation,
			"<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
		{"Llama 3.1", llama31Template, conversation,
			"<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
		{"Llama 3.1 without system", llama31Template, `[{"role":"user","content":"Hi"}]`,
			"<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|>" +
				"<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := byteVocabulary(t, nil)
			if got := written(v, compiled(t, v, c.template, c.messages)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The vocabulary's own beginning is not doubled by the template's.
func TestOneBeginning(t *testing.T) {
	v := byteVocabulary(t, func(v *tokenizer.Vocab) {
		v.BOS, v.AddBOS = 256+slices.Index(controls, "<|begin_of_text|>"), true
	})
	got := written(v, compiled(t, v, llama3Template, `[{"role":"user","content":"Hi"}]`))
	if n := strings.Count(got, "<|begin_of_text|>"); n != 1 || !strings.HasPrefix(got, "<|begin_of_text|>") {
		t.Errorf("%q", got)
	}
}

// Templates of other models are not taken for one that is known, nor is one whose
// control tokens the vocabulary lacks or lets users write.
func TestUnknownTemplates(t *testing.T) {
	phi3 := `{{'<|user|>\n' + message['content'] + '<|end|>\n'}}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}`
	phi4 := `{{'<|im_start|>user<|im_sep|>' + message['content'] + '<|im_end|>'}}{{'<|im_start|>assistant<|im_sep|>'}}`
	for _, c := range []struct {
		name, template, want string
		change               func(*tokenizer.Vocab)
	}{
		{"none", "", "has no chat template", nil},
		{"Phi 3", phi3, "is not known (known are ChatML, Llama 3, ", nil},
		{"Phi 4", phi4, "is not known", nil},
		{"Llama 2", `{{ '[INST] ' + content + ' [/INST]' }}`, "is not known", nil},
		{"token missing", chatMLTemplate, "<|im_start|> is no control token", func(v *tokenizer.Vocab) { v.Tokens[256] = "<|other|>" }},
		{"token of users", chatMLTemplate, "<|im_end|> is no control token", func(v *tokenizer.Vocab) { v.Types[257] = 4 }},
	} {
		_, err := compileTemplate(c.template, byteVocabulary(t, c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Without a template chats are refused with a reason and completions are served; the
// engine says so when it starts.
func TestChatWithoutTemplate(t *testing.T) {
	e := startOncall(t, Config{ChatTemplate: "{{ bos_token }}"})
	defer e.stop()
	w := e.post(t.Context(), "/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}]}`)
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"code":"chat_template_unknown"`) {
		t.Errorf("chat: %d %s", w.Code, w.Body)
	}
	if w = e.post(t.Context(), "/v1/completions", `{"prompt":"Hi","max_tokens":2}`); w.Code != 200 {
		t.Errorf("completion: %d %s", w.Code, w.Body)
	}
	if got := e.Warnings(); len(got) != 1 || !strings.Contains(got[0], "chat template is not known") {
		t.Errorf("warnings %q", got)
	}
	known := startOncall(t, Config{})
	defer known.stop()
	if got := known.Warnings(); len(got) != 0 {
		t.Errorf("warnings of the built-in model: %q", got)
	}
}

// Whatever is in a message, its control tokens are text: the prompt has as many
// control tokens as with empty messages. And the costly way gives the same tokens.
func TestPromptProperties(t *testing.T) {
	v := byteVocabulary(t, nil)
	e := &encoder{Engine: &Engine{}, ctx: t.Context(), own: v}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) content {
			parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(append([]string{"\n", " ", "<|", "|>"}, controls...)), rapid.String()), 0, 6).Draw(t, "parts")
			return content(strings.Join(parts, ""))
		})
		c, err := compileTemplate(rapid.SampledFrom([]string{oncallTemplate, qwenTemplate, llama31Template}).Draw(t, "template"), v)
		if err != nil {
			t.Fatal(err)
		}
		var full, empty []message
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			role, s, none := rapid.SampledFrom([]string{"system", "developer", "user", "assistant"}).Draw(t, "role"), text.Draw(t, "text"), content("")
			full, empty = append(full, message{role, &s}), append(empty, message{role, &none})
		}
		prompt := func(messages []message) (prompt []int, control int) {
			turns := c.format.turns(messages)
			var texts [][]int
			for _, turn := range turns {
				texts = append(texts, v.Encode(turn.text, false))
			}
			prompt = c.prompt(turns, texts)
			if again := c.rebuilt(e, turns, texts); !slices.Equal(prompt, again) {
				t.Fatalf("precompiled %q, naive %q", written(v, prompt), written(v, again))
			}
			for _, id := range prompt {
				if id >= 256 {
					control++
				}
			}
			return prompt, control
		}
		got, n := prompt(full)
		if _, want := prompt(empty); n != want {
			t.Fatalf("%d control tokens, want %d: %q", n, want, written(v, got))
		}
	})
}
