//go:build race

package drill

// underRace: the race detector is on.
const underRace = true
