//go:build !race

package judge

// underRace: the race detector is off.
const underRace = false
