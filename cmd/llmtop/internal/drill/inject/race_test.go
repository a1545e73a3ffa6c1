//go:build race

package inject

// raceEnabled leaves out what has seconds to do what the race detector slows down tenfold.
const raceEnabled = true
