//go:build race

package twin

// UnderRace: the race detector is on.
const UnderRace = true
