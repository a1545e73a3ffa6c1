package probes

import (
	"net/url"
	"strings"
)

// tellTale is how many bytes of a secret in a row give it away: servers repeat what they
// refuse, whole or cut.
const tellTale = 8

// quote is text of a server for an error, printable and at most limit bytes. Text that
// repeats a part of the credentials is left out.
func (f *Fetcher) quote(text string, limit int) string {
	for _, secret := range f.secrets() {
		if repeats(text, secret) {
			return "its words are left out: they repeat the credentials"
		}
	}
	return Printable(text, limit)
}

// secrets are what must not be seen of the credentials that this fetcher may send.
func (f *Fetcher) secrets() []string {
	out := append([]string(nil), f.o.Access.Auth.parts...)
	if password, ok := f.endpoint.user.Password(); ok && password != "" {
		out = append(out, password)
	}
	return out
}

// repeats reports text with a part of a secret in it, as it is or as a URL has it.
func repeats(text, secret string) bool {
	forms := []string{text}
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		for i := 0; i == 0 || i+tellTale <= len(secret); i++ {
			if strings.Contains(form, secret[i:min(len(secret), i+tellTale)]) {
				return true
			}
		}
	}
	return false
}
