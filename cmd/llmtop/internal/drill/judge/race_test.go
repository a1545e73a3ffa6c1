//go:build race

package judge

// underRace: the race detector is on. Simulations have one goroutine and take long under it.
const underRace = true
