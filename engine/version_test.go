package engine

import (
	"runtime"
	"strings"
	"testing"
)

// TestVersion: the page is vLLM's, and names the build.
func TestVersion(t *testing.T) {
	e := startFake(t, nil)
	defer e.stop()
	w := e.get("/version")
	got := decodeBody[map[string]string](t, w)["version"]
	if w.Code != 200 || !strings.HasPrefix(got, "llmtop ") || !strings.HasSuffix(got, runtime.Version()) {
		t.Errorf("%d %q", w.Code, got)
	}
}
