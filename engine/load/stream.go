package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// stream is what was read of one streamed answer.
type stream struct {
	first, last  time.Time     // when the first and the last text came
	gap          time.Duration // longest between two pieces of text
	chunks       int           // with text
	promptTokens int           // as the server counted; 0 when it did not tell
	outputTokens int           // likewise
	finished     bool          // a finish reason came
}

// Limits of one answer: no server may fill the client's memory or keep it for ever.
const (
	maxLine   = 1 << 20
	maxAnswer = 64 << 20
)

// chunk is a piece of a streamed chat completion.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// read takes server-sent events until data: [DONE] and stamps those with text by
// clock. On an error, kind is its short stable name.
func (s *stream) read(body io.Reader, clock func() time.Time) (kind string, err error) {
	lines := bufio.NewScanner(io.LimitReader(body, maxAnswer))
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // comments, event names, the empty line between events
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			return "", nil
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return "malformed stream", fmt.Errorf("an event is not JSON: %s", oneLine(string(data)))
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return "engine error", errors.New(oneLine(string(c.Error)))
		}
		s.take(c, clock)
	}
	if err := lines.Err(); err != nil {
		return "broken stream", err
	}
	if !s.finished {
		return "broken stream", errors.New("the answer ended before its finish reason")
	}
	return "", nil // finished, without the courtesy of [DONE]
}

func (s *stream) take(c chunk, clock func() time.Time) {
	for _, choice := range c.Choices {
		if choice.Delta.Content != "" || choice.Delta.Reasoning != "" {
			now := clock()
			if s.chunks == 0 {
				s.first = now
			} else {
				s.gap = max(s.gap, now.Sub(s.last))
			}
			s.last = now
			s.chunks++
		}
		s.finished = s.finished || (choice.FinishReason != nil && *choice.FinishReason != "")
	}
	if c.Usage != nil {
		s.promptTokens, s.outputTokens = max(0, c.Usage.PromptTokens), max(0, c.Usage.CompletionTokens)
	}
}
