package scrape

import (
	"bytes"
	"encoding/json"
)

// maxQuoted bounds a quoted page; llama.cpp's has about 3 KB.
const maxQuoted = 1 << 20

// unquoted is a page that came as one JSON string, as itself: llama.cpp b7010 to b7190
// quoted its whole page. Any other body is returned as it is.
func unquoted(body []byte) []byte {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) < 2 || len(trimmed) > maxQuoted || trimmed[0] != '"' || trimmed[len(trimmed)-1] != '"' {
		return body
	}
	var page string
	if err := json.Unmarshal(trimmed, &page); err != nil {
		return body
	}
	return []byte(page)
}
