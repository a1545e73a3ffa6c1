package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// counter tells on standard error how many of a number of things are done: on a terminal each in
// one line that is written over, else a line for each tenth.
type counter struct {
	out      io.Writer
	terminal bool
	what     string
	done     int
	all      int
}

func newCounter(cmd *cobra.Command, what string, all int) *counter {
	out := cmd.ErrOrStderr()
	return &counter{out: out, terminal: isTerminal(out), what: what, all: all}
}

// one more is done.
func (c *counter) one() {
	c.done++
	switch {
	case c.terminal:
		fmt.Fprintf(c.out, "\r%d of %d %s ", c.done, c.all, c.what)
	case c.done*10/c.all != (c.done-1)*10/c.all:
		fmt.Fprintf(c.out, "%d of %d %s\n", c.done, c.all, c.what)
	}
}

// end takes the line away.
func (c *counter) end() {
	if c.terminal && c.done > 0 {
		fmt.Fprint(c.out, "\r\x1b[K")
	}
}
