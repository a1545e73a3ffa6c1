package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Limits of a request's body.
const (
	bodyTimeout  = 30 * time.Second // by the machine's clock: it bounds a read of the network
	maxJSONDepth = 32               // chat content nests five deep
)

// receive reads the whole body, within its limits.
func receive(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every ResponseWriter can
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		_ = rc.SetReadDeadline(time.Time{}) // else it would look like a client that has gone
	} // else it bounds net/http's attempt to read the rest
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, &apiError{
			status: http.StatusRequestEntityTooLarge, kind: "invalid_request_error", code: "request_too_large",
			message: fmt.Sprintf("the body is longer than %d bytes", limit),
		}
	case err != nil:
		return nil, &apiError{
			status: http.StatusRequestTimeout, kind: "invalid_request_error", code: codeIncomplete,
			message: "the body did not arrive completely",
		}
	case len(body) == 0:
		return nil, badParam("", "the body is empty")
	}
	return body, nil
}

// codeIncomplete marks a request whose client went away, or stalled, while sending it.
const codeIncomplete = "incomplete_body"

// decode reads a JSON object into v. Unknown fields are ignored, as clients send
// options of other engines.
func decode(body []byte, v any) error {
	if tooDeep(body) {
		return badParam("", "the body is nested deeper than %d levels", maxJSONDepth)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return badJSON(err)
	}
	return nil
}

// tooDeep counts brackets outside strings; whether they match is the decoder's matter.
func tooDeep(body []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxJSONDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
