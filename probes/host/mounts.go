package host

import (
	"bytes"
	"context"
	"strings"
)

// mounted is where a file system is found, and which one: the kernel's device number.
type mounted struct{ point, device string }

// mountsOf finds, by a process's mountinfo (man 5 proc_pid_mountinfo), the file system of
// each path. Of those mounted at one point the last one is seen.
func mountsOf(mountinfo string, paths []string) []mounted {
	found := make([]mounted, len(paths))
	var field [5][]byte
	err := eachLine(context.Background(), mountinfo, func(line []byte) bool {
		f := words(line, field[:0])
		if len(f) < 5 {
			return true
		}
		point := unescaped(f[4])
		for i, path := range paths {
			if within(path, point) && len(point) >= len(found[i].point) {
				found[i] = mounted{point, string(f[2])}
			}
		}
		return true
	})
	if err != nil {
		return nil
	}
	return found
}

// within reports whether a path is a directory or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// unescaped undoes what the kernel does to blanks, line breaks and backslashes: "\040".
func unescaped(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if c, ok := octal(text[i:]); ok {
			out = append(out, c)
			i += 3
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

func octal(text []byte) (c byte, ok bool) {
	if len(text) < 4 || text[0] != '\\' {
		return 0, false
	}
	n := 0
	for _, digit := range text[1:4] {
		if digit < '0' || digit > '7' {
			return 0, false
		}
		n = n*8 + int(digit-'0')
	}
	return byte(n), n < 256
}
