// Package playtest gives tests of other folders the pages of a fixture (see package
// play, which lies in an internal folder that they cannot import).
package playtest

import (
	"testing"

	"llmtop/scripts/internal/play"
)

// Page is the page of a fixture in a state at a second.
type Page struct {
	State   string // idle, loaded, saturated, restarted, stale
	Seconds float64
	Text    []byte
}

// Pages are those of seconds 0 and 10 in each of the five states. In state restarted
// the restart lies between them, at second 5.
func Pages(t testing.TB, file string) []Page {
	t.Helper()
	var pages []Page
	for _, s := range play.States() {
		for _, seconds := range []float64{0, 10} {
			pages = append(pages, Page{string(s), seconds, At(t, file, string(s), seconds)})
		}
	}
	return pages
}

// At is one page.
func At(t testing.TB, file, state string, seconds float64) []byte {
	t.Helper()
	f, err := play.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := play.ParseState(state)
	if err != nil {
		t.Fatal(err)
	}
	return play.At(f, s, seconds)
}
