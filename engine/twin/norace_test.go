//go:build !race

package twin

// UnderRace: the race detector is off.
const UnderRace = false
