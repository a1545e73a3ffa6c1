package engine

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// chatTemplate is a chatFormat in the tokens of a vocabulary.
type chatTemplate struct {
	format chatFormat
	begin  []int
	around map[string]tokens // by role
	answer []int
}

// tokens are those before and after a message.
type tokens struct{ open, shut []int }

// errNoTemplate answers a chat where nobody knows how the model reads one.
var errNoTemplate = &apiError{
	status: http.StatusBadRequest, kind: "invalid_request_error", code: "chat_template_unknown",
	message: "this model has no chat template that is known here; write the prompt for /v1/completions instead",
}

// chat is the template of a model, nil if there is none that is known, and what to
// tell whoever starts the engine.
func (w words) chat(c Config, t Tokenizer) (template *chatTemplate, warnings []string) {
	if w.addsEOS {
		warnings = append(warnings, "the model file wants an end token after every text (add_eos_token); prompts get none, since no answer could follow it")
	}
	template, err := compileTemplate(cmp.Or(c.ChatTemplate, w.template), t)
	if err != nil {
		warnings = append(warnings, err.Error()+": /v1/chat/completions answers with an error, /v1/completions works")
	}
	return template, warnings
}

// compileTemplate encodes what stands around the messages of a chat.
func compileTemplate(text string, t Tokenizer) (*chatTemplate, error) {
	if text == "" {
		return nil, fmt.Errorf("the model has no chat template")
	}
	f, ok := recognize(text)
	if !ok {
		return nil, fmt.Errorf("the model's chat template is not known (known are %s)", knownFormats())
	}
	if mark := forgeable(f, t); mark != "" {
		return nil, fmt.Errorf("the chat template is %s, but %s is no control token of the vocabulary", f.name, mark)
	}
	c := &chatTemplate{format: f, begin: t.Begin(), around: map[string]tokens{}, answer: t.Encode(f.answer, true)}
	if len(c.begin) == 0 && f.begin != "" {
		c.begin = t.Encode(f.begin, true)
	}
	for _, role := range []string{"system", "user", "assistant"} {
		b := f.block(role)
		c.around[role] = tokens{t.Encode(b.open, true), t.Encode(b.shut, true)}
	}
	return c, nil
}

func knownFormats() string {
	var names []string
	for _, f := range chatFormats() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

var controlMark = regexp.MustCompile(`<\|[^|]*\|>`)

// forgeable is a control token of the format that the vocabulary does not have as
// one, so that users could write it; "" if there is none.
func forgeable(f chatFormat, t Tokenizer) string {
	all := f.system.open + f.system.shut + f.user.open + f.user.shut + f.assistant.open + f.assistant.shut + f.answer
	for _, mark := range controlMark.FindAllString(all, -1) {
		control := t.Encode(mark, true)
		if len(control) != 1 || slices.Contains(t.Encode(mark, false), control[0]) {
			return mark
		}
	}
	return ""
}

// prompt puts the tokens of the messages between those of the template.
func (c *chatTemplate) prompt(turns []chatTurn, texts [][]int) []int {
	n := len(c.begin) + len(c.answer)
	for i, t := range turns {
		n += len(c.around[t.role].open) + len(texts[i]) + len(c.around[t.role].shut)
	}
	prompt := append(make([]int, 0, n), c.begin...)
	for i, t := range turns {
		a := c.around[t.role]
		prompt = append(append(append(prompt, a.open...), texts[i]...), a.shut...)
	}
	return append(prompt, c.answer...)
}

// rebuilt is the same prompt at the price that many servers pay: message after
// message it is made anew by concatenation, and the template is encoded each time.
func (c *chatTemplate) rebuilt(e *encoder, turns []chatTurn, texts [][]int) (prompt []int) {
	for n := range turns {
		if e.ctx.Err() != nil {
			return prompt // nobody waits for it
		}
		prompt = slices.Clone(c.begin)
		for i, t := range turns[:n+1] {
			b := c.format.block(t.role)
			prompt = slices.Concat(prompt, e.own.Encode(b.open, true), texts[i], e.own.Encode(b.shut, true))
		}
	}
	return slices.Concat(prompt, e.own.Encode(c.format.answer, true))
}
