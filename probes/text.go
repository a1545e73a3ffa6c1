package probes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes text from outside (a scrape, a process name, a server's error)
// safe to keep and to show on one line: control and formatting characters are
// gone (escape sequences lose their teeth, right-to-left overrides their effect),
// white space is single blanks, invalid UTF-8 is U+FFFD, and what is longer than
// limit bytes ends in "…". Square brackets stay: they are data, and escaping them
// is the screen's business.
func Printable(s string, limit int) string {
	if len(s) <= limit && plain(s) {
		return s
	}
	var b strings.Builder
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r):
			continue
		}
		if b.Len()+utf8.RuneLen(r) > limit || blank && b.Len()+utf8.RuneLen(r) == limit {
			b.WriteString("…")
			break
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether s is printable ASCII with at most single inner blanks.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' {
			return false
		}
		if c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}
