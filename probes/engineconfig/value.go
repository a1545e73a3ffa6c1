package engineconfig

import (
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// kind says what values a setting has and how they are written.
type kind uint8

const (
	number    kind = iota // a count of 1 or more: 256; also 32k, 16K as vLLM reads them
	limit                 // a count that may be 0
	share                 // 0 to 1
	word                  // one word of a closed vocabulary: auto, fp8, lpm
	modelName             // a name, of a path its last part
	version               // of a build
	on                    // a switch: on when it is given or true, off when false
	off                   // the reverse
	switched              // a switch that may also say auto
	given                 // takes a value that is not told: on
	method                // JSON with a method in it, or nothing but that it is on
	role                  // JSON with a role in it: prefill, decode or both
)

var (
	wordShape    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$`)
	modelShape   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:+@-]*(?:/[A-Za-z0-9_.:+@-]+){0,2}$`)
	versionShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ,_.:+()-]{0,99}$`)
	humanNumber  = regexp.MustCompile(`^(\d{1,12}(?:\.\d{1,6})?)([kKmMgGbBtT])?$`)
)

// scales of numbers as vLLM takes them: small letters are decimal, capitals binary.
var scales = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9, "t": 1e12, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "B": 1 << 30, "T": 1 << 40}

// normal writes a value in the one way a fact has; false when it is none. Negative
// numbers mean "choose yourself" with all engines and are none.
func normal(k kind, s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" || s == "null" || s == "None" {
		return "", false
	}
	switch k {
	case number:
		n, ok := count(s)
		return n, ok && n != "0" // 0 means "choose yourself"
	case limit:
		return count(s)
	case share:
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return "", false
		}
		return strconv.FormatFloat(v, 'g', 6, 64), true
	case word:
		s = strings.ToLower(strings.TrimPrefix(s, "torch."))
		return s, wordShape.MatchString(s)
	case modelName:
		return model(s)
	case version:
		return s, versionShape.MatchString(s)
	case on, off:
		truth, ok := truth(s)
		return map[bool]string{true: "on", false: "off"}[truth == (k == on)], ok
	case switched:
		if strings.EqualFold(s, "auto") {
			return "auto", true
		}
		return normal(on, s)
	case given:
		return "on", true
	case method:
		return methodOf(s), true
	case role:
		return roleOf(s)
	}
	return "", false
}

func count(s string) (string, bool) {
	m := humanNumber.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	v *= scales[m[2]]
	if err != nil || v > 1e15 || v != math.Trunc(v) {
		return "", false
	}
	return strconv.FormatFloat(v, 'f', 0, 64), true
}

// model is a name as hubs have it (owner/name); of a path or a URL the last part.
func model(s string) (string, bool) {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") || strings.Contains(s, `\`) {
		s = path.Base(strings.ReplaceAll(s, `\`, "/"))
	}
	return s, len(s) <= 200 && modelShape.MatchString(s)
}

func truth(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "1", "on", "yes", "enable", "enabled":
		return true, true
	case "false", "0", "off", "no", "disable", "disabled":
		return false, true
	}
	return false, false
}

// methodOf finds the method of speculative decoding: {"method": "ngram", …}.
func methodOf(s string) string {
	if body, err := decode([]byte(s)); err == nil {
		if m, ok := normal(word, text(dig(body, "method"))); ok {
			return m
		}
	}
	return "on"
}

// roleOf is the part of a disaggregated engine in vLLM's KV transfer configuration.
func roleOf(s string) (string, bool) {
	body, err := decode([]byte(s))
	if err != nil {
		return "", false
	}
	r, ok := map[string]string{"kv_producer": "prefill", "kv_consumer": "decode", "kv_both": "both"}[text(dig(body, "kv_role"))]
	return r, ok
}
