package engine

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// budgetOf starts an engine and ends it.
func budgetOf(t *testing.T, c Config) (Budget, error) {
	t.Helper()
	e, err := New(c)
	if err != nil {
		return Budget{}, err
	}
	defer e.runner.(*cpuRunner).Close()
	return e.Budget(), nil
}

// The parts add up, and each setting moves its part alone.
func TestBudget(t *testing.T) {
	plain, err := budgetOf(t, Config{Threads: 1, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Weights < 1_390_000 || plain.KVCache != 512*16*6*2*32*2*4 || plain.Activations <= 0 || plain.Buffer <= 0 {
		t.Errorf("%+v", plain)
	}
	if plain.Total != plain.Weights+plain.KVCache+plain.Activations+plain.Buffer || plain.Limit < 85*(1<<30)/100-100 || plain.Limit > 85*(1<<30)/100 {
		t.Errorf("%+v", plain)
	}
	bytes, err := budgetOf(t, Config{Threads: 1, KVCacheType: "int8"})
	if err != nil || bytes.KVCache*128 != plain.KVCache*36 || bytes.Weights != plain.Weights || bytes.Limit != 0 {
		t.Errorf("int8: %+v, %v; float32: %+v", bytes, err, plain)
	}
	draft, err := budgetOf(t, Config{Threads: 1, Speculative: SpeculateDraft})
	if err != nil || draft.Weights <= plain.Weights || draft.Weights > plain.Weights*5/4 || draft.KVCache != plain.KVCache+512*16*2*1*32*2*4 {
		t.Errorf("with a draft model: %+v, %v; without: %+v", draft, err, plain)
	}
	long, err := budgetOf(t, Config{Threads: 1, MaxBatchedTokens: 512})
	if err != nil || long.Activations < plain.Activations*3/2 || long.KVCache != plain.KVCache {
		t.Errorf("twice the tokens in a step: %+v, %v; before: %+v", long, err, plain)
	}
}

// Too many blocks are refused before they are made, with the number that fits: it does, one more does not.
// Bytes for keys and values hold 3.5 times the blocks.
func TestBudgetLimit(t *testing.T) {
	const memory = 200 << 20
	fit := map[string]int{}
	for _, c := range []Config{
		{NumBlocks: 1 << 20}, {NumBlocks: 1 << 20, KVCacheType: "int8"}, {NumBlocks: 1 << 20, Speculative: SpeculateDraft},
	} {
		c.MemoryBytes, c.Threads = memory, 1
		_, err := budgetOf(t, c)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("a KV cache larger than the machine: %v", err)
		}
		found := regexp.MustCompile(`num_blocks=(\d+) would fit`).FindStringSubmatch(err.Error())
		if found == nil {
			t.Fatalf("%v: want the number of blocks that fit", err)
		}
		c.NumBlocks, _ = strconv.Atoi(found[1])
		b, err := budgetOf(t, c)
		if err != nil || b.Total > b.Limit {
			t.Errorf("%d blocks would fit: %+v, %v", c.NumBlocks, b, err)
		}
		fit[c.KVCacheType+c.Speculative] = c.NumBlocks
		c.NumBlocks++
		if _, err := budgetOf(t, c); err == nil {
			t.Errorf("%d blocks fit, too", c.NumBlocks)
		}
	}
	t.Logf("blocks in %d MiB: %v", memory>>20, fit)
	if float64(fit["int8"]) < 3.5*float64(fit[""]) || fit[SpeculateDraft] >= fit[""] {
		t.Errorf("blocks that fit: %v", fit)
	}
	if _, err := budgetOf(t, Config{MemoryBytes: 100 << 20}); err == nil || !strings.Contains(err.Error(), "without a KV cache") {
		t.Errorf("a machine too small for the model: %v", err)
	}
	if b, err := budgetOf(t, Config{}); err != nil || b.Limit != 0 {
		t.Errorf("unknown memory: %+v, %v", b, err)
	}
}
