package record

import (
	"encoding/json"
	"regexp"
	"strings"
)

// What has no business in a file that gets shared. Endpoints reach a sample
// without user info already; errors, command lines and findings may quote a URL
// or a header all the same.
var (
	userInfo     = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/"'<>?#@]*(?:@[^\s/"'<>?#@]*)*@`)
	secretParam  = regexp.MustCompile(`(?i)([?&][^=&\s"']*(?:key|token|secret|passw|auth|sig)[^=&\s"']*=)[^&\s"'#]+`)
	secretHeader = regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|x-api-key|api[-_]key|[\w-]*(?:passw(?:or)?d|client[-_]secret|secret[-_]key|(?:access|auth|hf)[-_]token))(\s*[:=]\s*)(?:(?:bearer|basic|token)\s+)?[^\s"',;&]+`)
	secretName   = regexp.MustCompile(`(?i)^(?:(?:proxy-)?authorization|x-api-key|api[-_]?key|password|secret|token)$`)
	bearer       = regexp.MustCompile(`(?i)\bbearer\s+[a-z0-9._~+/=-]{6,}`)
)

const removed = "[removed]"

// clean returns s as it may be stored: printable, without credentials. It is
// idempotent, and text without any of these comes back as it is.
func clean(s string) string {
	s = printable(s)
	if !strings.ContainsAny(s, ":= ") {
		return s
	}
	return withoutSecrets(s)
}

func withoutSecrets(s string) string {
	if strings.Contains(s, "://") {
		s = userInfo.ReplaceAllString(s, "$1")
		s = secretParam.ReplaceAllString(s, "${1}"+removed)
	}
	s = secretHeader.ReplaceAllString(s, "${1}${2}"+removed)
	return bearer.ReplaceAllString(s, "Bearer "+removed)
}

// cleanJSON returns b with each text in it clean, and with the texts that follow a
// name such as "authorization" removed. b is valid JSON and stays so.
func cleanJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	secret := false
	for i := 0; i < len(b); {
		if b[i] != '"' {
			secret = secret && (b[i] == ':' || b[i] == ' ')
			out = append(out, b[i])
			i++
			continue
		}
		end := literalEnd(b, i)
		literal := b[i:end]
		var s string
		if err := json.Unmarshal(literal, &s); err == nil {
			switch c := clean(s); {
			case secret && c != "":
				literal = []byte(`"` + removed + `"`)
			case c != s:
				literal, _ = json.Marshal(c)
			}
		}
		secret = secretName.MatchString(s) && end < len(b) && b[end] == ':'
		out = append(out, literal...)
		i = end
	}
	return out
}

// literalEnd is the index after the string literal that begins at b[i].
func literalEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
