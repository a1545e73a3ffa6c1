package probes

import (
	"fmt"
	"net/url"
	"strings"
)

// Endpoint is where an engine is reached. Its credentials stay in this value:
// String, which goes into samples, recordings and errors, never has them.
type Endpoint struct {
	base url.URL // scheme, host and path prefix
	user *url.Userinfo
}

// ParseEndpoint reads what a person types: "host:8000", "http://host:8000",
// with or without a path, also the full address of the metrics page. A trailing
// slash and "/metrics" are not part of the endpoint; query and fragment are dropped.
func ParseEndpoint(s string) (Endpoint, error) {
	s = strings.TrimSpace(s)
	shown := Printable(s, 200)
	if at := strings.LastIndexByte(shown, '@'); at >= 0 {
		shown = shown[at+1:]
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return Endpoint{}, fmt.Errorf("address %q is not a URL", shown)
	case u.Scheme != "http" && u.Scheme != "https":
		return Endpoint{}, fmt.Errorf("address %q: scheme %q is neither http nor https", shown, u.Scheme)
	case u.Hostname() == "":
		return Endpoint{}, fmt.Errorf("address %q names no host", shown)
	}
	e := Endpoint{base: url.URL{Scheme: u.Scheme, Host: u.Host}, user: u.User}
	path := strings.TrimRight(u.Path, "/")
	e.base.Path = strings.TrimRight(strings.TrimSuffix(path, "/metrics"), "/")
	return e, nil
}

// String is the endpoint without credentials, query or trailing slash.
func (e Endpoint) String() string { return Printable(e.base.String(), 500) }

// Host is host:port; the port is the scheme's when none was given.
func (e Endpoint) Host() string {
	if e.base.Port() != "" {
		return e.base.Host
	}
	if e.base.Scheme == "https" {
		return e.base.Host + ":443"
	}
	return e.base.Host + ":80"
}
