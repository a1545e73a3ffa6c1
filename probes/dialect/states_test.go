package dialect

import (
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
	"llmtop/probes/scrape"
	"llmtop/scripts/playtest"
)

// TestStates reads every fixture while it moves: what a state is has to be seen in the
// canonical readings, by whatever names an engine has. (What rules make of them stands
// in rules/testdata/pages.)
func TestStates(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(expositions, "*.prom"))
	if len(paths) < 30 {
		t.Fatalf("%d fixtures", len(paths))
	}
	for _, path := range paths {
		switch filepath.Base(path) {
		case "hostile.prom", "vllm-pids.prom": // gauges alone
			continue
		}
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

// growth is how two looks at a cumulative reading differ: by how much it grew, and
// whether it goes on at all. told is false where it is not cumulative or not there twice.
func growth(r *probes.EngineReading, before, after *probes.Engine) (grew float64, goesOn, told bool) {
	if r.Number != nil {
		was, ok := r.Number(before).Get()
		is, ok2 := r.Number(after).Get()
		return is - was, is >= was, ok && ok2 && strings.HasSuffix(r.Name, "_total")
	}
	was, is := *r.Histogram(before), *r.Histogram(after)
	if was == nil || is == nil {
		return 0, false, false
	}
	delta, ok := is.Sub(was)
	if !ok {
		return 0, false, true
	}
	return delta.Count, true, true
}

// unlike lists what two looks, 10 s apart, say that does not go with the state. A
// restart lies between them at second 5, after which all grows again: what had been
// small may have passed its old value.
func unlike(state string, before, after *probes.Engine) (wrong []string) {
	moved, anew := 0, 0
	for i := range probes.EngineReadings {
		r := &probes.EngineReadings[i]
		grew, goesOn, told := growth(r, before, after)
		switch {
		case !told:
			continue
		case !goesOn:
			anew++
		case grew > 0:
			moved++
		}
		switch still := state == "idle" || state == "stale"; {
		case still && (grew != 0 || !goesOn):
			wrong = append(wrong, r.Name+" moves")
		case (state == "loaded" || state == "saturated") && !goesOn:
			wrong = append(wrong, r.Name+" begins anew")
		}
	}
	switch {
	case (state == "loaded" || state == "saturated") && moved == 0:
		wrong = append(wrong, "nothing moves")
	case state == "restarted" && anew == 0:
		wrong = append(wrong, "nothing begins anew")
	}
	running, ok := after.Running.Get()
	if ok && (state == "stale" && running <= 0 || state == "saturated" && running < before.Running.Or(0)) {
		wrong = append(wrong, "running does not go with it")
	}
	if was, ok := before.StartUnixSecs.Get(); ok && (after.StartUnixSecs.Or(0) > was) != (state == "restarted") {
		wrong = append(wrong, "the start of the process does not go with it")
	}
	return wrong
}
