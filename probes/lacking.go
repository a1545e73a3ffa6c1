package probes

import "errors"

// Lacking marks an error that only says that an engine does not have what not every
// engine has: CPU profiles, say. It is told, and is no trouble (ProbeStatus.Lacks).
func Lacking(err error) error { return &lacking{err} }

type lacking struct{ error }

func (l *lacking) Unwrap() error { return l.error }

// IsLacking reports whether an error was marked by Lacking.
func IsLacking(err error) bool {
	var l *lacking
	return errors.As(err, &l)
}
