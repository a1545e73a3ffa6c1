package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// mostRSS is the bound of this process's memory, MiB: three servers send more than the
// 16 MiB that a page may have, at the same time, and as much again may be garbage.
const mostRSS = 160

// memory is the peak of this process's resident memory; no row where /proc does not tell.
func memory() []row {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "VmHWM:" {
			kib, err := strconv.Atoi(words[1])
			if err != nil {
				return nil
			}
			return []row{{"peak memory", fmt.Sprintf("at most %d MiB", mostRSS), fmt.Sprintf("%d MiB", kib>>10), kib>>10 <= mostRSS}}
		}
	}
	return nil
}
