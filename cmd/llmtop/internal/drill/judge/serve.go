package judge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// maxLine bounds a line that is asked.
const maxLine = 64 << 10

// Asked is a line for Serve that asks for more than a verdict.
type Asked struct {
	Path         string      `json:"path"`
	EverySeconds float64     `json:"features_every_seconds,omitempty"`
	At           []time.Time `json:"features_at,omitempty"`
}

// Answer is a line of Serve: what was judged, or why nothing could be.
type Answer struct {
	*drill.Judged
	Error string `json:"error,omitempty"`
}

// Serve judges recordings until in ends: of each line, a file's name or an Asked as JSON, it
// answers with one line of JSON, an Answer. Its error is one of in or out.
func Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if err := answers.Encode(answer(line)); err != nil {
			return fmt.Errorf("writing a judgement: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading what to judge: %w", err)
	}
	return nil
}

func answer(line string) Answer {
	asked := Asked{Path: line}
	if strings.HasPrefix(line, "{") {
		asked = Asked{}
		if err := json.Unmarshal([]byte(line), &asked); err != nil {
			return Answer{Error: fmt.Sprintf("reading what to judge: %v", err)}
		}
	}
	o := Options{FeaturesEvery: time.Duration(asked.EverySeconds * float64(time.Second)), FeaturesAt: asked.At}
	j, err := Recording(context.Background(), asked.Path, o)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	return Answer{Judged: &j}
}
