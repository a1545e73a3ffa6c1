package probes

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
)

// Auth is a header that proves who asks. It is kept in memory only: no way of printing
// it shows it.
type Auth struct {
	name, value string
	parts       []string // what must not be seen of it
}

// errAuth says what credentials may hold, without what these do.
var errAuth = errors.New("credentials are one line of printable ASCII without blanks around it")

// BearerAuth sends "Authorization: Bearer TOKEN".
func BearerAuth(token string) (Auth, error) { return newAuth("Authorization", "Bearer ", token) }

// BasicAuth sends "Authorization: Basic …" of USER:PASSWORD.
func BasicAuth(user, password string) (Auth, error) {
	if user == "" || strings.ContainsAny(user+password, "\r\n\x00") {
		return Auth{}, errAuth
	}
	a, err := newAuth("Authorization", "Basic ", base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	if err == nil && password != "" {
		a.parts = append(a.parts, password)
	}
	return a, err
}

// KeyAuth sends "X-API-Key: KEY".
func KeyAuth(key string) (Auth, error) { return newAuth("X-API-Key", "", key) }

func newAuth(name, kind, secret string) (Auth, error) {
	if secret == "" || strings.TrimSpace(secret) != secret || len(secret) > 16<<10 {
		return Auth{}, errAuth
	}
	for i := 0; i < len(secret); i++ {
		if secret[i] < ' ' || secret[i] > '~' {
			return Auth{}, errAuth
		}
	}
	return Auth{name, kind + secret, []string{secret}}, nil
}

// None reports that there are no credentials.
func (a Auth) None() bool { return a.name == "" }

// String is for those who print it by mistake.
func (a Auth) String() string {
	if a.None() {
		return "none"
	}
	return "[credentials]"
}

// GoString is String, for %#v.
func (a Auth) GoString() string { return a.String() }

func (a Auth) sign(r *http.Request) { r.Header.Set(a.name, a.value) }

// Access is how an endpoint is reached beside its address. The zero value has no
// credentials and trusts the certificates that the system trusts.
type Access struct {
	Auth     Auth
	Peer     func(uid int) bool // not nil: whose a Unix socket may be, by who listens there; another's is not spoken to
	When     func() bool        // not nil: credentials are sent only after a 401 or 403, and each time only if it says so
	CAs      *x509.CertPool     // certificates that sign those of servers; nil: the system's
	Insecure bool               // certificates are not checked
}

func (a Access) tls() *tls.Config {
	return &tls.Config{RootCAs: a.CAs, InsecureSkipVerify: a.Insecure, MinVersion: tls.VersionTLS12}
}
