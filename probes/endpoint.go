package probes

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// DefaultPage is the path of an engine's metrics page unless it is known to be another.
const DefaultPage = "/metrics"

// Endpoint is where an engine is reached: an address of HTTP, a Unix socket, or an
// address in another network namespace of this host. Its credentials stay in this
// value: String, which goes into samples, recordings and errors, never has them.
type Endpoint struct {
	base   url.URL // scheme, host and path prefix; of a Unix socket the host is "localhost"
	page   string  // of the metrics below base; "" is DefaultPage
	socket string  // path of a Unix socket
	netns  uint64  // the network namespace (its inode) in which host stands, 0: ours
	pid    int     // a process in whose network namespace host stands, 0: ours
	user   *url.Userinfo
}

// String is the endpoint without credentials, query or trailing slash:
// "http://127.0.0.1:8000", "http://127.0.0.1:8000/prometheus/metrics",
// "unix:/run/vllm.sock", "http://127.0.0.1:8000#netns=4026532281". ParseEndpoint reads it.
func (e Endpoint) String() string { return Printable(e.at(e.page), 500) }

// at is the address of a page below the endpoint, without credentials.
func (e Endpoint) at(page string) string {
	if e.socket != "" {
		if path := e.base.Path + page; path != "" {
			return "unix:" + e.socket + ":" + path
		}
		return "unix:" + e.socket
	}
	u := e.base
	u.Path += page
	u.Fragment = strings.TrimPrefix(e.Namespace(), "#")
	return u.String()
}

// Namespace is what names the network namespace in the address, "#netns=4026532281" or
// "#pid=4242", "" for ours.
func (e Endpoint) Namespace() string {
	switch {
	case e.netns > 0:
		return "#netns=" + strconv.FormatUint(e.netns, 10)
	case e.pid > 0:
		return "#pid=" + strconv.Itoa(e.pid)
	}
	return ""
}

// Host is host:port, "" of a Unix socket; the port is the scheme's when none was given.
func (e Endpoint) Host() string {
	switch {
	case e.socket != "" || e.None():
		return ""
	case e.base.Port() != "":
		return e.base.Host
	case e.base.Scheme == "https":
		return e.base.Host + ":443"
	}
	return e.base.Host + ":80"
}

// None reports the zero Endpoint, which is nowhere.
func (e Endpoint) None() bool { return e.socket == "" && e.base.Host == "" }

// Page is the path of the metrics page below the endpoint.
func (e Endpoint) Page() string {
	if e.page == "" {
		return DefaultPage
	}
	return e.page
}

// PageKnown reports whether the address named the page, which then is not searched for.
func (e Endpoint) PageKnown() bool { return e.page != "" }

// WithPage is the endpoint with its metrics at another path.
func (e Endpoint) WithPage(page string) Endpoint {
	if e.page = page; page == DefaultPage {
		e.page = ""
	}
	return e
}

// WithTLS is the endpoint spoken to by https.
func (e Endpoint) WithTLS() Endpoint {
	e.base.Scheme = "https"
	return e
}

// TLS reports whether the endpoint is spoken to by https.
func (e Endpoint) TLS() bool { return e.base.Scheme == "https" }

// Socket is the path of the Unix socket, "" of an address.
func (e Endpoint) Socket() string { return e.socket }

// Elsewhere reports whether the address stands in a network namespace that it names.
func (e Endpoint) Elsewhere() bool { return e.netns > 0 || e.pid > 0 }

// Local reports whether the process behind the endpoint is one of this host: a Unix
// socket, a named network namespace, or a loopback address.
func (e Endpoint) Local() bool { return e.socket != "" || e.Elsewhere() || loopback(e.base.Hostname()) }

// Key is equal for addresses that mean the same: localhost, 127.0.0.1, ::1, 0.0.0.0 and
// :: are one name.
func (e Endpoint) Key() string {
	if e.socket == "" && loopback(e.base.Hostname()) {
		_, port, _ := net.SplitHostPort(e.Host())
		e.base.Host = net.JoinHostPort("127.0.0.1", port)
	}
	return e.at("")
}

// loopback reports a name or address of this host that every host has.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsLoopback() || ip.Unmap().IsUnspecified())
}
