//go:build !race

package drill

// underRace: the race detector is off.
const underRace = false
