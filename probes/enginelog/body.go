package enginelog

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// bounds of what is taken off a line.
const (
	maxPrefixes = 12  // of them, one after the other
	maxPrefix   = 400 // bytes of one
	maxNesting  = 2   // JSON in JSON: a log driver's line of an engine that logs JSON
)

// prefixes is what loggers put in front of a message: each alternative once, again and again.
var prefixes = regexp.MustCompile(`^(?:` +
	`\s+|` +
	`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?: (?:stdout|stderr) [FP])?\s|` + // docker, containerd, tracing, logging
	`[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \S+ [^\s:\[\]]+(?:\[\d+\])?:)?\s|` + // syslog
	`kernel:\s|\[\s*\d+\.\d{6}\]\s|<\d{1,3}>|` + // the kernel's
	`[\w.-]+\s+\| |` + // compose
	`\(\w[^()]*pid=\d+[^()]*\) |` + // vLLM and Ray: (EngineCore_DP0 pid=41)
	`\[rank\d+\]:\s?|` + // torchrun
	`\[[EWIF]\d{3,4} \d\d:\d\d:\d\d\.\d+ [\w./-]+:\d+\]\s|` + // c10
	`(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)(?:\s|:\s+)|` +
	`\d\d-\d\d \d\d:\d\d:\d\d (?:\[[\w./-]+:\d+\]|[\w./-]+:\d+\])\s|` + // vLLM, new and old
	`\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?: (?:[A-Z]{2,4}\d{1,5} ?){1,6})?\]\s|` + // SGLang
	`\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\]\s?|\[(?:TRT-LLM|TensorRT-LLM|batchmgr|_torch|[A-Z]|INFO|WARNING|ERROR)\]\s?|\[RANK \d+\]\s?|` + // TensorRT-LLM
	`- (?:DEBUG|INFO|WARNING|ERROR) - [\w.]+: |` + // logging's long form
	`\d+\.\d\d\.\d{3}\.\d{3} [A-Z] |` + // llama.cpp's clock
	`(?:slot|srv|que|cmn|main|init|update_slots|print_timings)(?:\s+[\w()~]+)?\s*:\s+(?:id\s+\d+ \| task -?\d+ \| )?|` +
	`(?:shard-manager|download|webserver|text_generation_launcher): ` + // TGI's launcher
	`)`)

// escapes are ANSI's colours and cursor movements.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-9;?]{0,32}[ -/]?[@-~]|[@-_])`)

// body is the message of a raw line, without what the logger or the log driver put in front
// of it. nil when there is none to be found: JSON without a message. A message is told from
// text within it (a prompt, say) by standing at the beginning.
func body(line []byte) []byte {
	for range maxNesting {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' {
			break
		}
		if line = unwrap(line); line == nil {
			return nil
		}
	}
	if bytes.IndexByte(line, '\x1b') >= 0 {
		line = escapes.ReplaceAll(line, nil)
	}
	line = bytes.TrimRight(line, "\r\n \t")
	if i := bytes.LastIndexByte(line, '\r'); i >= 0 { // what a progress bar left behind
		line = line[i+1:]
	}
	for range maxPrefixes {
		at := prefixes.FindIndex(line[:min(len(line), maxPrefix)])
		if at == nil || at[1] == 0 {
			break
		}
		line = line[at[1]:]
	}
	return line
}

// unwrap returns the message in a JSON line; nil when it is no JSON, or without one.
func unwrap(line []byte) []byte {
	var l struct {
		Log, Message, Msg json.RawMessage
		Fields            struct{ Message json.RawMessage }
	}
	if json.Unmarshal(line, &l) != nil {
		return nil
	}
	for _, raw := range []json.RawMessage{l.Log, l.Message, l.Fields.Message, l.Msg} {
		var text string
		if len(raw) > 0 && json.Unmarshal(raw, &text) == nil {
			return []byte(text)
		}
	}
	return nil
}
