//go:build linux && cgo

package nvml

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// CUDA brings a library of NVML's name to link programs with where there is no driver.
// Starting it prints a warning across the screen and runs other programs, so it is
// recognised before: by its size and by the words of that warning.

// biggestStub in bytes; a driver's library has more than a million.
const biggestStub = 512 << 10

var stubWords = []byte("is a stub library")

func isStub(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > biggestStub {
		return false
	}
	content, err := os.ReadFile(file)
	return err == nil && bytes.Contains(content, stubWords)
}

// loadedFrom is the file that the loader took for a library that is loaded now.
func loadedFrom(path string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || strings.Contains(path, "/") {
		return path
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".so")
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); len(fields) == 6 && strings.HasPrefix(filepath.Base(fields[5]), name+".so") {
			return fields[5]
		}
	}
	return path
}
