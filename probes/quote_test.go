package probes

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Servers repeat what they refuse. No error has the credentials in it, whole or cut.
func TestErrorsRepeatNoCredentials(t *testing.T) {
	const secret = "sk-Pl4n-B3tt3r-9876"
	bearer, _ := BearerAuth(secret)
	key, _ := KeyAuth(secret)
	basic, _ := BasicAuth("ops", secret)
	short, _ := KeyAuth("pw77")
	for name, auth := range map[string]Auth{"bearer": bearer, "key": key, "basic": basic, "short": short} {
		value := auth.parts[len(auth.parts)-1]
		for says, answer := range map[string]func(http.ResponseWriter, *http.Request){
			"401": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(401)
				io.WriteString(w, `{"error":"bad key `+auth.value+`"}`)
			},
			"400": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(400); io.WriteString(w, value) },
			"500 cut": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(500)
				io.WriteString(w, "key "+value[:min(12, len(value))]+"***")
			},
			"cut by us": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(500)
				io.WriteString(w, strings.Repeat("x", 60)+value)
			},
			"server": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Server", value); w.WriteHeader(404) },
			"encoding": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", value)
				w.WriteHeader(200)
			},
			"redirect": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "http://"+value+".example/")
				w.WriteHeader(302)
			},
			"escaped": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(500)
				io.WriteString(w, "%"+"73"+value[1:]+"%"+"20")
			},
			"login": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(403)
				io.WriteString(w, strings.TrimPrefix(auth.value, "Basic "))
			},
		} {
			f := fetcher(t, FetchOptions{Access: Access{Auth: auth}, Transport: handler(answer)})
			_, err := f.Get(context.Background(), nil)
			if err == nil {
				t.Fatalf("%s, %s: no error", name, says)
			}
			text := err.Error()
			if status := (*StatusError)(nil); errors.As(err, &status) {
				text += status.Server
			}
			for i := 0; i == 0 || i+8 <= len(value); i++ {
				if strings.Contains(text, value[i:min(i+8, len(value))]) {
					t.Errorf("%s, %s: %s", name, says, text)
					break
				}
			}
			if strings.Contains(text, "b3BzOn") {
				t.Errorf("%s, %s: %s", name, says, text)
			}
		}
	}
	// the words of a server that repeats nothing stay
	f := fetcher(t, FetchOptions{Access: Access{Auth: bearer}, Transport: handler(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		io.WriteString(w, "out of memory")
	})})
	if _, err := f.Get(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "(out of memory)") {
		t.Errorf("got %v", err)
	}
}

// A server that talks before it was asked has a plain error, not net/http's.
func TestATalkativeServer(t *testing.T) {
	f := fetcher(t, FetchOptions{Transport: failing{errors.New("readLoopPeekFailLocked: %!w(<nil>)")}})
	if _, err := f.Get(context.Background(), nil); err == nil || err.Error() != "http://gpu-7:8000/metrics: the server talks without being asked" {
		t.Errorf("got %v", err)
	}
}
