//go:build race

package engine

// raceEnabled shortens tests that are mostly arithmetic: the race detector slows it
// down more than tenfold.
const raceEnabled = true
