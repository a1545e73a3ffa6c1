package main

import (
	"fmt"
	"io"
)

// row is something that was looked at.
type row struct {
	what, wanted, seen string
	ok                 bool
}

// report prints the table and counts the misses.
func report(out io.Writer, rows []row) (missed int) {
	for _, r := range rows {
		word := "ok  "
		if !r.ok {
			word = "MISS"
			missed++
		}
		fmt.Fprintf(out, "%s %-34s %-22s %s\n", word, r.what, r.wanted, r.seen)
	}
	return missed
}
