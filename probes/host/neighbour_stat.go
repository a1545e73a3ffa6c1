package host

import (
	"bytes"

	"llmtop/probes"
)

// Fields of /proc/PID/stat after the name (man 5 proc_pid_stat).
const (
	fieldState, fieldParent = 0, 1
	fieldUser, fieldSystem  = 11, 12
	fieldStart, fieldRSS    = 19, 21
	fieldCount              = 22
)

// allowedLine is that of /proc/PID/status that lists the cores it may run on.
const allowedLine = "Cpus_allowed_list"

// seenIn reads a process's stat. A dead one that only was not waited for is none.
func seenIn(text []byte) (p seen, ok bool) {
	i := bytes.LastIndexByte(text, ')') // a name may hold anything
	if i < 0 {
		return p, false
	}
	var field [fieldCount][]byte
	f := words(bytes.TrimSuffix(text[i+1:], []byte("\n")), field[:0])
	if len(f) < fieldCount || len(f[fieldState]) != 1 || bytes.ContainsAny(f[fieldState], "ZX") {
		return p, false
	}
	number := func(field int) uint64 {
		n, is := unsigned(f[field])
		ok = ok && is
		return n
	}
	ok = true
	p = seen{
		start: number(fieldStart), cpu: number(fieldUser) + number(fieldSystem), rss: number(fieldRSS),
		parent: int(number(fieldParent)), blocked: f[fieldState][0] == 'D',
	}
	return p, ok
}

// nameIn is the name in a process's stat.
func nameIn(text []byte) string {
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return ""
	}
	return probes.Printable(string(text[from+1:to]), 64)
}
