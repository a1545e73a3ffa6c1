//go:build !linux

package inject

func pageOut(int, []span) error { return Lacking("needs Linux: taking pages from another process") }

func deviceOf(string) (string, error) { return "", Lacking("needs Linux: limits of a disk") }
