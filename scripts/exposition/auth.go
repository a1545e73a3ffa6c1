package main

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// parseAuth reads what credentials are wanted; empty: none.
func parseAuth(text string) (allowed func(*http.Request) bool, err error) {
	if text == "" {
		return func(*http.Request) bool { return true }, nil
	}
	kind, secret, _ := strings.Cut(text, ":")
	user, password, both := strings.Cut(secret, ":")
	switch {
	case secret == "":
	case kind == "bearer":
		return func(r *http.Request) bool { return same(r.Header.Get("Authorization"), "Bearer "+secret) }, nil
	case kind == "key":
		return func(r *http.Request) bool { return same(r.Header.Get("X-API-Key"), secret) }, nil
	case kind == "basic" && both:
		return func(r *http.Request) bool {
			u, p, ok := r.BasicAuth()
			return ok && same(u, user) && same(p, password)
		}, nil
	}
	return nil, errors.New("-auth wants bearer:TOKEN, basic:USER:PASSWORD or key:VALUE")
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
