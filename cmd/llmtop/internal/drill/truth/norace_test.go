//go:build !race

package truth

// underRace: the race detector is off.
const underRace = false
