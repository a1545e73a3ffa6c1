package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// apiError is an answer in OpenAI's error shape. Messages are one line and repeat
// nothing of a prompt.
type apiError struct {
	status     int
	kind       string // OpenAI's "type"
	code       string // empty: null
	param      string // empty: null
	message    string
	retryAfter int // seconds; 0: not told
}

func (e *apiError) Error() string { return e.message }

// badParam is the error of one parameter.
func badParam(param, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "invalid_request_error", param: param, message: fmt.Sprintf(format, args...)}
}

// internalError tells a client nothing but that it is not to blame.
func internalError() *apiError {
	return &apiError{status: http.StatusInternalServerError, kind: "internal_error", message: "the engine could not compute the answer"}
}

func unavailable(reason string) *apiError {
	return &apiError{status: http.StatusServiceUnavailable, kind: "service_unavailable", message: reason, retryAfter: 1}
}

// MarshalJSON writes {"error":{"message","type","param","code"}}.
func (e *apiError) MarshalJSON() ([]byte, error) {
	type body struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return json.Marshal(map[string]body{"error": {e.message, e.kind, orNull(e.param), orNull(e.code)}})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// write sends the error as the whole answer.
func (e *apiError) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.status, e)
}

// toAPI makes an answer of any error; one that is not meant for clients becomes internal.
func toAPI(err error) *apiError {
	var e *apiError
	if errors.As(err, &e) {
		return e
	}
	return internalError()
}

// badJSON explains why a body could not be decoded.
func badJSON(err error) *apiError {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var ours *apiError
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &syntax):
		return badParam("", "the body is not valid JSON: %s (at byte %d)", syntax, syntax.Offset)
	case errors.As(err, &kind) && kind.Field == "":
		return badParam("", "the body must be a JSON object, not %s", jsonKind(kind.Value))
	case errors.As(err, &kind):
		name := strings.TrimPrefix(kind.Field, "params.") // encoding/json names the embedded struct, too
		return badParam(name, "%q must be %s, not %s", name, goKind(kind.Type.Kind().String()), jsonKind(kind.Value))
	}
	return badParam("", "the body could not be decoded")
}

// jsonKind names a JSON value; encoding/json says "number 1.5" of a number that does not fit.
func jsonKind(value string) string {
	kind, literal, _ := strings.Cut(value, " ")
	switch {
	case kind == "number" && literal != "" && len(literal) <= 20:
		return literal
	case kind == "array" || kind == "object":
		return "an " + kind
	case kind == "bool":
		return "true or false"
	}
	return "a " + kind
}

func goKind(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"):
		return "an integer"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "slice":
		return "an array"
	case kind == "struct" || kind == "map":
		return "an object"
	}
	return "a " + kind
}
