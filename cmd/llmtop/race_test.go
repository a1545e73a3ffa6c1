//go:build race

package main

// raceEnabled leaves out what the race detector would slow down more than tenfold.
const raceEnabled = true
