package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"llmtop/engine/model"
)

// BenchmarkFrontHalf shows what a slow front half costs: the same chat of 60 messages,
// with a vocabulary of 32 000 tokens, in front of a device that takes 5 ms a step, and
// the share of the stages tokenize and assemble in its time.
//
//	go test ./engine -run '^$' -bench FrontHalf
func BenchmarkFrontHalf(b *testing.B) {
	path := filepath.Join(b.TempDir(), "oncall-32000.gguf")
	if err := os.WriteFile(path, enlarged(b, model.Oncall(), 32000), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		config Config
	}{
		{"on/precompiled", Config{}},
		{"off/precompiled", Config{TokenizerCache: Off}},
		{"on/naive", Config{Assemble: Naive}},
		{"off/naive", Config{TokenizerCache: Off, Assemble: Naive}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.config.ModelPath, c.config.MaxBatchedTokens = path, 2048
			frontHalf(b, c.config)
		})
	}
}

func frontHalf(b *testing.B, c Config) {
	e, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	e.steps = device{e.runner}
	served := &testEngine{Engine: e, handler: e.Handler()}
	ctx, stop := context.WithCancel(b.Context())
	over := make(chan error)
	go func() { over <- e.Run(ctx) }()
	defer func() {
		stop()
		if err := <-over; err != nil {
			b.Error(err)
		}
	}()
	body := longChat(60)
	for b.Loop() {
		if w := served.post(b.Context(), "/v1/chat/completions", body); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
	var sum [NumStages]float64
	var total float64
	finished, _, _ := e.log.after(0, finishedKept)
	for _, f := range finished {
		for s := range NumStages {
			sum[s] += f.line.spent[s].Seconds()
		}
		total += f.line.Total().Seconds()
	}
	n := float64(len(finished))
	b.ReportMetric(1e3*total/n, "e2e-ms")
	for _, s := range []Stage{StageTokenize, StageAssemble} {
		b.ReportMetric(1e3*sum[s]/n, s.String()+"-ms")
		b.ReportMetric(100*sum[s]/total, s.String()+"-%")
	}
}

// device stands for an accelerator: the host waits for it and has its cores to itself.
type device struct{ Runner }

func (d device) Run(batch []Chunk) ([]Result, error) {
	time.Sleep(5 * time.Millisecond)
	results := make([]Result, len(batch))
	for i, c := range batch {
		if c.Sampler != nil {
			results[i].Tokens = []int{'a'}
		}
	}
	return results, nil
}

func (d device) Close() error { return d.Runner.(io.Closer).Close() }

// longChat is a chat with so many messages, the last one a question.
func longChat(messages int) string {
	var lines []map[string]string
	for i := range messages {
		role, text := "assistant", "Look at the queue first: those that wait are in no batch yet."
		if i%2 == 1 {
			role, text = "user", "The p99 of TTFT is high and the queue is short. What else can it be?"
		}
		if i == 0 {
			role = "system"
		}
		lines = append(lines, map[string]string{"role": role, "content": fmt.Sprint(i, " ", text)})
	}
	raw, err := json.Marshal(lines)
	if err != nil {
		panic(err)
	}
	return `{"temperature":0,"ignore_eos":true,"max_tokens":16,"messages":` + string(raw) + `}`
}

// enlarged adds tokens to the vocabulary of a GGUF file which no text becomes. Each
// adds 32 bytes in all, so that the weights stay aligned.
func enlarged(b *testing.B, file []byte, tokens int) []byte {
	b.Helper()
	var texts, scores, types []byte
	count := vocabularySize(b, file)
	for id := count; id < tokens; id++ {
		texts = binary.LittleEndian.AppendUint64(texts, 16)
		texts = fmt.Appendf(texts, "<|unused_%05d|>", id)
		scores = binary.LittleEndian.AppendUint32(scores, math.Float32bits(float32(-id)))
		types = binary.LittleEndian.AppendUint32(types, 5)
	}
	file = longerArray(b, file, "tokenizer.ggml.tokens", tokens, texts)
	file = longerArray(b, file, "tokenizer.ggml.scores", tokens, scores)
	return longerArray(b, file, "tokenizer.ggml.token_type", tokens, types)
}

func vocabularySize(b *testing.B, file []byte) int {
	f, err := model.Parse(file)
	if err != nil {
		b.Fatal(err)
	}
	v, err := f.Vocab()
	if err != nil {
		b.Fatal(err)
	}
	return len(v.Tokens)
}

// longerArray appends elements to an array of the metadata: its key is followed by
// the type of arrays, the type of its elements, and their number.
func longerArray(b *testing.B, file []byte, key string, count int, more []byte) []byte {
	b.Helper()
	at := bytes.Index(file, []byte(key))
	if at < 0 {
		b.Fatalf("no %s", key)
	}
	at += len(key) + 4
	isText := binary.LittleEndian.Uint32(file[at:]) == 8
	n := int(binary.LittleEndian.Uint64(file[at+4:]))
	end := at + 12
	for range n {
		if end += 4; isText {
			end += 4 + int(binary.LittleEndian.Uint64(file[end-4:]))
		}
	}
	out := append([]byte(nil), file[:end]...)
	binary.LittleEndian.PutUint64(out[at+4:], uint64(count))
	return append(append(out, more...), file[end:]...)
}
