//go:build !unix

package model

import (
	"fmt"
	"io"
	"os"
)

// mapFile reads the first size bytes of a file where files are not mapped.
func mapFile(path string, size int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading model: %w", err)
	}
	defer file.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}

func unmapFile([]byte) error { return nil }
