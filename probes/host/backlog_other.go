//go:build !linux

package host

func mayAskForSockets() bool { return false }

func backlogOf(uint16) (float64, bool) { return 0, false }
