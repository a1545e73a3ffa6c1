package dialect

import (
	"path/filepath"
	"testing"

	"llmtop/probes"
)

// TestEverySample decodes every page of a real engine that lies beside the project: each
// is an engine's, and tells at least how much it does. The number read is logged.
func TestEverySample(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(samplesDir(), "*.prom"))
	if len(paths) == 0 {
		t.Skip("no sample pages beside the project (LLMTOP_SAMPLES)")
	}
	for _, path := range paths {
		e := Decode(load(t, path))
		if e == nil {
			t.Errorf("%s: no dialect", path)
			continue
		}
		told := 0
		for _, r := range probes.EngineReadings {
			if e.Origin(r.Name) != probes.NotTold {
				told++
			}
		}
		if told < 4 || !e.Running.Seen() {
			t.Errorf("%s: %d readings, running %v", path, told, e.Running)
		}
		t.Logf("%s: %s, %d readings", filepath.Base(path), e.Dialect, told)
	}
	t.Logf("%d sample files read", len(paths))
}
