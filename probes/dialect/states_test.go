package dialect

import (
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/probes/scrape"
	"llmtop/scripts/playtest"
)

// TestStates reads vLLM's fixtures while they move: what a state is has to be seen in
// the canonical numbers, by whatever names a generation has.
func TestStates(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(expositions, "vllm-*.prom"))
	paths = append(paths, filepath.Join(expositions, "llmtop-engine.prom"))
	if len(paths) < 6 {
		t.Fatalf("%d fixtures", len(paths))
	}
	for _, path := range paths {
		pages := playtest.Pages(t, path)
		for i := 0; i < len(pages); i += 2 {
			at := func(p playtest.Page) *probes.Engine { return Decode(scrape.Parse(p.Text)) }
			before, after := at(pages[i]), at(pages[i+1])
			if before == nil || after == nil {
				t.Fatalf("%s, %s: no dialect", path, pages[i].State)
			}
			if wrong := unlike(pages[i].State, before, after); len(wrong) > 0 {
				t.Errorf("%s, %s: %s", path, pages[i].State, strings.Join(wrong, "; "))
			}
		}
	}
}

// leftBehind is what the idle copies of other pids still say in vllm-pids.
const leftBehind = 6

// unlike lists what two looks, 10 s apart, say that does not go with the state.
func unlike(state string, before, after *probes.Engine) (wrong []string) {
	still := state == "idle" || state == "stale"
	for i, n := range numbers(after) {
		was, ok := numbers(before)[i].value.Get()
		is, ok2 := n.value.Get()
		switch n.name {
		case "prompt tokens", "generation tokens":
		default:
			continue
		}
		switch grew := is - was; {
		case !ok || !ok2:
		case still && grew != 0, state == "restarted" && grew >= 0, (state == "loaded" || state == "saturated") && grew <= 0:
			wrong = append(wrong, n.name+" do not go with it")
		}
	}
	for i, h := range histogramsOf(after) {
		was := histogramsOf(before)[i].value
		if was == nil || h.value == nil {
			continue
		}
		delta, ok := h.value.Sub(was)
		switch {
		case state == "restarted":
			if ok {
				wrong = append(wrong, h.name+" goes on")
			}
		case !ok:
			wrong = append(wrong, h.name+" begins anew")
		case still != (delta.Count == 0):
			wrong = append(wrong, h.name+" does not go with it")
		case delta.Cumulative[len(delta.Cumulative)-1] > delta.Count:
			wrong = append(wrong, h.name+" has more in its buckets than in all")
		}
	}
	running := after.Running.Or(-1)
	if state == "idle" && running > leftBehind || state == "stale" && running <= 0 || state == "saturated" && running < before.Running.Or(0) {
		wrong = append(wrong, "running does not go with it")
	}
	if was, ok := before.StartUnixSecs.Get(); ok && (after.StartUnixSecs.Or(0) > was) != (state == "restarted") {
		wrong = append(wrong, "the start of the process does not go with it")
	}
	return wrong
}
