package main

import "testing"

// TestBinaryIsNoTextForATerminal: a profile goes to a file or a pipe.
func TestBinaryIsNoTextForATerminal(t *testing.T) {
	o := startOnTerminal(t, 80, 24, "profile", incidentFile)
	o.waitFor(t, "this is no text for a terminal")
	o.waitFor(t, "give a file with -o")
	if code := o.waitEnd(t); code != exitUsage {
		t.Errorf("status %d", code)
	}
}
