package main

import (
	"io"
	"log"
)

// hushLibraries silences what net/http logs of a server that talks without having been asked: it
// would stand across the screen, in the server's words. That there was no answer is a
// probe's error.
func hushLibraries() { log.SetOutput(io.Discard) }
