//go:build race

package model

// raceEnabled shortens tests that are mostly arithmetic: the race detector slows it
// down more than tenfold.
const raceEnabled = true
