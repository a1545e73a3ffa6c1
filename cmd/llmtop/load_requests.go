package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"llmtop/engine/load"
)

// requestFile takes the requests of a load, a line each; without a name it takes none.
type requestFile struct {
	file *os.File
	out  *bufio.Writer
	err  error // the first
}

// newRequestFile makes the file, which must not be there yet.
func newRequestFile(name string) (*requestFile, error) {
	if name == "" {
		return &requestFile{}, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, usage(err, "give the name of a new file with --requests")
	}
	return &requestFile{file: f, out: bufio.NewWriter(f)}, nil
}

func (f *requestFile) add(r load.Request) {
	if f.file == nil || f.err != nil {
		return
	}
	f.err = json.NewEncoder(f.out).Encode(r)
}

// close writes what is left and returns the first error there was.
func (f *requestFile) close() error {
	if f.file == nil {
		return nil
	}
	if err := cmp.Or(f.err, f.out.Flush(), f.file.Close()); err != nil {
		return fmt.Errorf("writing the requests: %w", err)
	}
	return nil
}
