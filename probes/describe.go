package probes

import (
	"bytes"
	"fmt"
	"strings"
)

// Describe names what a body is that is not what was asked for: HTML, JSON, text or nothing.
func Describe(contentType string, body []byte) string {
	body = bytes.TrimLeft(body, " \t\r\n\ufeff")
	switch {
	case len(body) == 0:
		return "an empty page"
	case body[0] == '<' || strings.HasPrefix(contentType, "text/html"):
		return "HTML"
	case body[0] == '{' || body[0] == '[' || body[0] == '"' || strings.HasPrefix(contentType, "application/json"):
		return "JSON"
	case body[0] == 0x1f || bytes.IndexByte(body[:min(len(body), 512)], 0) >= 0:
		return "binary data"
	}
	return fmt.Sprintf("text (%q)", Printable(string(body[:min(len(body), 200)]), 40))
}

// size prints a number of bytes in MiB, or in bytes when it is small.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
