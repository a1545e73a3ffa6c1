package record

import (
	"regexp"
	"strings"
)

// Bounds of a command line that is kept.
const (
	maxArgs = 256
	maxArg  = 2048 // bytes
)

// What holds a secret inside an argument: a flag or variable with its value, a member
// of a JSON object, and words that look like the tokens of well-known issuers.
var (
	assignment = regexp.MustCompile(`((?:--?)?[A-Za-z_][A-Za-z0-9_.-]*)(=)("[^"]*"|'[^']*'|[^\s"']+)`)
	spacedFlag = regexp.MustCompile(`(--[A-Za-z][A-Za-z0-9_-]*)(\s+)("[^"]*"|'[^']*'|[^\s"']+)`)
	member     = regexp.MustCompile(`["']?([A-Za-z_][A-Za-z0-9_-]*)["']?(\s*:\s*)("(?:[^"\\]|\\.)*"|'[^']*')`)
	tokenShape = regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[a-z]_[A-Za-z0-9]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+)`)
)

// secretWords end the names of flags and variables whose value is a secret.
var secretWords = map[string]bool{
	"key": true, "keys": true, "apikey": true, "apikeys": true, "token": true, "secret": true, "secrets": true,
	"password": true, "passwd": true, "passphrase": true, "pass": true, "pwd": true,
	"credential": true, "credentials": true, "auth": true, "authorization": true, "bearer": true, "cookie": true,
}

// isSecret reports whether a flag, a variable or a member with that name holds a secret:
// --api-key, HF_TOKEN, and not --max-num-batched-tokens or --tokenizer.
func isSecret(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if last == "tokens" && len(words) > 1 {
		switch words[len(words)-2] {
		case "api", "auth", "access", "bearer", "secret", "hf":
			return true
		}
	}
	return secretWords[last] || strings.HasSuffix(last, "password") || strings.HasSuffix(last, "secret") || strings.HasSuffix(last, "apikey")
}

// CleanCommand returns a command line as it may be kept and shown: without the values of
// flags and variables that hold secrets, without the user info of URLs, printable, and
// bounded. What follows a flag such as --api-key is removed up to the next flag.
func CleanCommand(argv []string) []string {
	var out []string
	removing, first := false, false // after a flag that takes secrets; its first value
	for i, arg := range argv {
		if i == maxArgs {
			return append(out, "…")
		}
		flag := strings.HasPrefix(arg, "--") || strings.HasPrefix(arg, "-") && !first
		first = false
		switch {
		case flag && isSecret(arg) && !strings.ContainsAny(arg, "= "):
			removing, first = true, true
			out = append(out, cleanArg(arg))
		case flag && isSecretFlag(arg):
			removing = false
			name, _, _ := strings.Cut(arg, "=")
			out = append(out, cleanArg(name)+"="+removed)
		case removing && !flag:
			out = append(out, removed)
		default:
			removing = false
			out = append(out, cleanArg(arg))
		}
	}
	return out
}

// isSecretFlag reports --flag=VALUE of a flag that holds a secret: the value may hold
// blanks and quotes.
func isSecretFlag(arg string) bool {
	name, _, ok := strings.Cut(arg, "=")
	return ok && !strings.ContainsAny(name, " \t\"'") && isSecret(name)
}

// cleanArg is one argument without the secrets that stand in it.
func cleanArg(arg string) string {
	cut := len(arg) > maxArg
	if cut {
		arg = arg[:maxArg]
	}
	arg = clean(strings.ToValidUTF8(arg, ""))
	arg = replaceSecret(assignment, arg, removed)
	arg = replaceSecret(spacedFlag, arg, removed)
	arg = replaceSecret(member, arg, `"`+removed+`"`)
	arg = tokenShape.ReplaceAllString(arg, removed)
	if cut {
		arg += "…"
	}
	return arg
}

// replaceSecret replaces the values (group 3) that pattern finds behind secret names (group 1).
func replaceSecret(pattern *regexp.Regexp, s, by string) string {
	found := pattern.FindAllStringSubmatchIndex(s, -1)
	for i := len(found) - 1; i >= 0; i-- {
		m := found[i]
		if isSecret(s[m[2]:m[3]]) {
			s = s[:m[6]] + by + s[m[7]:]
		}
	}
	return s
}
