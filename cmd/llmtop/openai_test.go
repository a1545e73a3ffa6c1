package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"llmtop/engine"
)

// TestOpenAIClient runs the official OpenAI client (npm, pinned) against the engine.
func TestOpenAIClient(t *testing.T) {
	const dir = "../../scripts/openai-client"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(dir + "/node_modules/openai"); err != nil {
		t.Skipf("the OpenAI client is not installed: run npm ci in %s", strings.TrimPrefix(dir, "../../"))
	}
	const key = "a key of the test"
	addr := listen(t, engine.Config{Threads: 1, MaxNumSeqs: 1, MaxQueue: 1, APIKey: key})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // it hangs when a check never comes true
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "check.mjs", "http://"+addr, key)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "checks passed") {
		t.Errorf("%v\n%s", err, out)
	}
}
