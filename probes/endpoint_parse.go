package probes

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// pages are the paths at which engines have their metrics: nearly all at the first,
// trtllm-serve at the second, NIM at the third.
var pages = []string{DefaultPage, "/prometheus/metrics", "/v1/metrics"}

// MetricsPages are the paths at which engines have their metrics, the usual one first.
func MetricsPages() []string { return append([]string(nil), pages...) }

// maxSocketPath is what fits into the address of a Unix socket, without its final zero.
const maxSocketPath = 107

// ParseEndpoint reads what a person types: "host:8000", "http://host:8000", with or
// without a path, also the full address of the metrics page, and
//
//	unix:/run/vllm.sock                       a Unix socket, also unix:/run/vllm.sock:/prefix
//	http://127.0.0.1:8000#netns=4026532281    in that network namespace of this host
//	http://127.0.0.1:8000#pid=4242            in the network namespace of that process
//
// A trailing slash and "/metrics" are not part of the endpoint; a query and any other
// fragment are dropped.
func ParseEndpoint(s string) (Endpoint, error) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "unix:"); ok {
		return parseSocket(rest)
	}
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
	e.base.Path, e.page = splitPage(u.Path)
	if err := e.enter(u.Fragment); err != nil {
		return Endpoint{}, fmt.Errorf("address %q: %w", shown, err)
	}
	return e, nil
}

// parseSocket reads "/run/vllm.sock", "///run/vllm.sock" and "/run/vllm.sock:/prefix".
func parseSocket(s string) (Endpoint, error) {
	shown := Printable("unix:"+s, 200)
	if strings.HasPrefix(s, "///") {
		s = s[2:]
	}
	path, prefix, _ := strings.Cut(s, ":/")
	if prefix != "" {
		prefix = "/" + prefix
	}
	prefix, _, _ = strings.Cut(prefix, "?")
	prefix, _, _ = strings.Cut(prefix, "#")
	switch {
	case !strings.HasPrefix(path, "/") || len(path) < 2:
		return Endpoint{}, fmt.Errorf("address %q: a Unix socket is named by its full path, as in unix:/run/vllm.sock", shown)
	case len(path) > maxSocketPath:
		return Endpoint{}, fmt.Errorf("address %q: the path of a Unix socket has at most %d bytes", shown, maxSocketPath)
	case Printable(path, len(path)) != path:
		return Endpoint{}, fmt.Errorf("address %q: control bytes in the path", shown)
	}
	e := Endpoint{base: url.URL{Scheme: "http", Host: "localhost"}, socket: path}
	e.base.Path, e.page = splitPage(prefix)
	if Printable(e.base.Path, len(prefix)) != e.base.Path {
		return Endpoint{}, fmt.Errorf("address %q: control bytes in the path", shown)
	}
	return e, nil
}

// splitPage takes the metrics page off the end of a path.
func splitPage(path string) (prefix, page string) {
	path = strings.TrimRight(path, "/")
	for _, p := range pages[1:] {
		if rest, ok := strings.CutSuffix(path, p); ok {
			return strings.TrimRight(rest, "/"), p
		}
	}
	return strings.TrimRight(strings.TrimSuffix(path, DefaultPage), "/"), ""
}

// enter reads the network namespace that a fragment names. There a name cannot be
// looked up, so the host must be an address.
func (e *Endpoint) enter(fragment string) error {
	name, value, ok := strings.Cut(fragment, "=")
	if !ok || name != "netns" && name != "pid" {
		return nil
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 || name == "pid" && n > 1<<30 {
		return fmt.Errorf("#%s= is followed by a number", name)
	}
	host := e.base.Hostname()
	if strings.EqualFold(host, "localhost") {
		port := e.base.Port()
		if host, e.base.Host = "127.0.0.1", "127.0.0.1"; port != "" {
			e.base.Host = net.JoinHostPort(host, port)
		}
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return errors.New("in another network namespace a host is named by its address, not by a name")
	}
	if name == "netns" {
		e.netns = n
	} else {
		e.pid = int(n)
	}
	return nil
}
