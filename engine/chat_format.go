package engine

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// chatFormat is a way of writing a chat, as the authors of models publish it.
type chatFormat struct {
	name  string
	marks []string // a template with all of them is of this format

	begin                   string // before everything, where the vocabulary itself puts no token there
	system, user, assistant block
	answer                  string // after the last message
	trim                    bool   // spaces around a message are taken off

	preamble string // before the text of the first system message, whether there is one or not
	implied  string // the system message of a chat that does not begin with one
}

// block is what stands around a message: with control tokens, and plain text that
// is encoded together with the message.
type block struct{ open, before, after, shut string }

// chatTurn is a message as it is encoded.
type chatTurn struct {
	role string // system, user or assistant
	text string // with the plain text around it
}

// chatFormats are those known: ChatML (OpenAI's, used by Qwen 2 and many others),
// Llama 3's (Meta's model card), and that of the model that ships with llmtop, where
// a system message is a user block of its own.
func chatFormats() []chatFormat {
	chatML := func(role string) block { return block{open: "<|im_start|>" + role, before: "\n", shut: "<|im_end|>\n"} }
	llama3 := func(role string) block {
		return block{open: "<|start_header_id|>" + role + "<|end_header_id|>", before: "\n\n", shut: "<|eot_id|>"}
	}
	oncall := block{open: "<|user|>", before: "\n", after: "\n"}
	return []chatFormat{
		{
			name: "ChatML", marks: []string{"<|im_start|>assistant\n", "<|im_end|>"},
			system: chatML("system"), user: chatML("user"), assistant: chatML("assistant"),
			answer: "<|im_start|>assistant\n",
		},
		{
			name: "Llama 3", marks: []string{"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
			begin: "<|begin_of_text|>", trim: true,
			system: llama3("system"), user: llama3("user"), assistant: llama3("assistant"),
			answer: "<|start_header_id|>assistant<|end_header_id|>\n\n",
		},
		{
			name: "the built-in model's", marks: []string{"<|user|>\n", "<|assistant|>\n", "\n<|end|>\n"},
			system: oncall, user: oncall,
			assistant: block{open: "<|assistant|>", before: "\n", after: "\n", shut: "<|end|>\n"},
			answer:    "<|assistant|>\n",
		},
	}
}

var (
	// A ChatML template names its own system message in one literal (Qwen 2, SmolLM 2).
	impliedSystem = regexp.MustCompile(`<\|im_start\|>system\n([^'"{}]+)<\|im_end\|>`)
	// Llama 3.1 and later tell dates in the system message; this is the one where nobody tells another.
	templateDate = regexp.MustCompile(`date_string = "([^"]+)"`)
)

const knowledgeDate = "Cutting Knowledge Date: December 2023\n"

// recognize finds the format of a template by the literals in it: Jinja is not run.
func recognize(template string) (chatFormat, bool) {
	template = strings.ReplaceAll(template, `\n`, "\n")
	for _, f := range chatFormats() {
		if slices.ContainsFunc(f.marks, func(m string) bool { return !strings.Contains(template, m) }) {
			continue
		}
		if m := impliedSystem.FindStringSubmatch(template); m != nil {
			f.implied = m[1]
		}
		if m := templateDate.FindStringSubmatch(template); m != nil && strings.Contains(template, knowledgeDate) {
			f.preamble = knowledgeDate + "Today Date: " + m[1] + "\n\n"
		}
		return f, true
	}
	return chatFormat{}, false
}

// turns are the messages as the format has them.
func (f *chatFormat) turns(messages []message) (turns []chatTurn) {
	add := func(role, text string) {
		b := f.block(role)
		turns = append(turns, chatTurn{role, b.before + text + b.after})
	}
	for i, m := range messages {
		role, text := m.Role, string(*m.Content)
		if role == "developer" { // OpenAI's new name for it
			role = "system"
		}
		if f.trim {
			text = strings.TrimFunc(text, pythonSpace)
		}
		switch {
		case i > 0:
		case role == "system":
			text = f.preamble + text
		case f.preamble+f.implied != "":
			add("system", f.preamble+f.implied)
		}
		add(role, text)
	}
	return turns
}

// pythonSpace is what Jinja's trim takes off.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }

func (f *chatFormat) block(role string) *block {
	switch role {
	case "assistant":
		return &f.assistant
	case "system":
		return &f.system
	}
	return &f.user
}
