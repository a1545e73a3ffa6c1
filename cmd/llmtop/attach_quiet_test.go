package main

import (
	"bytes"
	"io"
	"log"
	"testing"
)

// What attaches lets no library write across the screen.
func TestLibrariesAreQuiet(t *testing.T) {
	was := log.Writer()
	defer log.SetOutput(was)
	var said bytes.Buffer
	log.SetOutput(&said)
	if err := (&reachOptions{}).ready(io.Discard); err != nil {
		t.Fatal(err)
	}
	log.Print("Unsolicited response")
	if said.Len() > 0 {
		t.Errorf("said %q", said.String())
	}
}
