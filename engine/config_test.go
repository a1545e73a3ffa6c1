package engine

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestDefaults(t *testing.T) {
	c, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.ModelName != "oncall" || c.MaxNumSeqs != 16 || c.MaxBatchedTokens != 256 || c.BlockSize != 16 || c.NumBlocks != 512 || c.MaxQueue != 48 || c.Now == nil {
		t.Errorf("%+v", c)
	}
	if c, err = (Config{KVCacheType: "f32", NumSpeculativeTokens: 2}).withDefaults(); err != nil || c.KVCacheType != "float32" || c.drafts() != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = (Config{KVCacheType: "int8", Speculative: SpeculateNgram}).withDefaults(); err != nil || c.KVCacheType != "int8" || c.drafts() != 4 || c.limits().Drafts != 4 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = (Config{MaxNumSeqs: 5, MaxQueue: Unlimited}).withDefaults(); err != nil || c.MaxQueue != Unlimited {
		t.Errorf("%+v, %v", c, err)
	}
}

// What cannot be served is refused with one line that names it.
func TestNewRefuses(t *testing.T) {
	html := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(html, []byte("<html>no model here</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		"max_num_seqs is -1":           {MaxNumSeqs: -1},
		"num_blocks is -5":             {NumBlocks: -5},
		"block_size is -1":             {BlockSize: -1},
		"threads is -2":                {Threads: -2},
		"less than max_num_seqs":       {MaxNumSeqs: 300},
		"threads is 100000000":         {Threads: 100_000_000},
		"max_num_seqs is 922":          {MaxNumSeqs: math.MaxInt, MaxBatchedTokens: math.MaxInt},
		"max_num_batched_tokens is 9":  {MaxBatchedTokens: math.MaxInt},
		"block_size is 1000000":        {BlockSize: 1_000_000},
		"num_blocks is 922":            {NumBlocks: math.MaxInt},
		"the KV cache would take":      {NumBlocks: 1 << 24, BlockSize: 1 << 12},
		"long_prefill_token_threshold": {LongPrefillTokenThreshold: -1},
		"the body limit is -1":         {MaxBodyBytes: -1},
		"tokenizer_threads is -1":      {TokenizerThreads: -1},
		`tokenizer_cache is "never"`:   {TokenizerCache: "never"},
		`assemble is "fast"`:           {Assemble: "fast"},
		"a runner needs its tokenizer": {Tokenizer: fakeTokenizer{}},
		"no/such/file.gguf":            {ModelPath: "no/such/file.gguf"},
		filepath.Base(html):            {ModelPath: html},
	} {
		e, err := New(c)
		if err == nil || e != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A runner that can be closed is closed when the loop ends.
func TestRunnerIsClosed(t *testing.T) {
	r := &closingRunner{fakeRunner: newFakeRunner(Config{NumBlocks: 4, BlockSize: 4}, 16)}
	e, err := New(Config{Runner: r, Tokenizer: fakeTokenizer{}, NumBlocks: 4, BlockSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	runLoop(t, e)()
	if r.closed != 1 {
		t.Errorf("closed %d times", r.closed)
	}
}

type closingRunner struct {
	*fakeRunner
	closed int
}

func (c *closingRunner) Close() error {
	c.closed++
	return nil
}
