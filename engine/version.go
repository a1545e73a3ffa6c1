package engine

import (
	"net/http"
	"runtime/debug"
	"sync"
)

// serveVersion answers GET /version, as vLLM does: which build this is.
func serveVersion(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"version": build()})
}

// build is the version of the module this is built from, with the revision where that says more.
var build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := "llmtop " + info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && info.Main.Version == "(devel)":
			v += " " + s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true" && info.Main.Version == "(devel)":
			v += " modified"
		}
	}
	return v + ", " + info.GoVersion
})
