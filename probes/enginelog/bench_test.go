package enginelog

import (
	"strings"
	"testing"
)

// chatter is what a busy engine prints that is of no kind.
var chatter = []string{
	`(APIServer pid=41) INFO:     10.0.0.9:40001 - "POST /v1/chat/completions HTTP/1.1" 200 OK`,
	`INFO 11-30 04:05:06 [logger.py:39] Received request chatcmpl-0123456789abcdef: params: SamplingParams(n=1, presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, temperature=0.7, top_p=0.9, top_k=-1, min_p=0.0, seed=None, stop=[], max_tokens=512), prompt_token_ids: None, lora_request: None.`,
	`INFO 11-30 04:05:06 [async_llm.py:270] Added request chatcmpl-0123456789abcdef.`,
	`slot update_slots: id  0 | task 124 | prompt processing progress, n_past = 2048, n_tokens = 2048, progress = 0.500000`,
	`[2026-11-30 04:05:06] Finish: obj=GenerateReqInput(rid='0123456789abcdef'), out={'meta_info': {'finish_reason': {'type': 'stop'}, 'prompt_tokens': 1000}}`,
}

// BenchmarkChatter is lines of no kind, through splitter and filter: bytes a second.
func BenchmarkChatter(b *testing.B) {
	text := []byte(strings.Repeat(strings.Join(chatter, "\n")+"\n", 1<<20/len(strings.Join(chatter, "\n"))))
	s := newSink(newMatcher(rows()), "x")
	split := &splitter{line: func(line []byte) { s.line(line, false) }}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		split.feed(text)
	}
	if section, _ := s.section(); section != nil || len(s.counts) > 0 {
		b.Fatalf("%v is known", s.counts)
	}
}

// BenchmarkKnown is lines that are known, each with its numbers.
func BenchmarkKnown(b *testing.B) {
	m, table := newMatcher(rows()), rows()
	for b.Loop() {
		for i := range table {
			if row, _ := m.match([]byte(table[i].example)); row == nil {
				b.Fatal(table[i].example)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(table))/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkNew is what a probe costs to make: the table is compiled.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newMatcher(rows())
	}
}
