package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// exitError carries the exit status of a command, what went wrong in one line
// (nil: nothing to say, the status says it), and what the user can do about it.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// failed is an error of a running command (status 1).
func failed(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitDegraded, err: err, hint: hint}
}

// usage is an error of the command line (status 2).
func usage(err error, hint string) error { return &exitError{code: exitUsage, err: err, hint: hint} }

// one is the check of commands that take one argument; what says which, and how.
func one(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage(fmt.Errorf("%d arguments given, one is needed", len(args)), "name "+what)
		}
		return nil
	}
}

// oneLine makes foreign text safe and short enough for one line of a terminal.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 400 {
		s = string(runes[:399]) + "…"
	}
	return s
}
