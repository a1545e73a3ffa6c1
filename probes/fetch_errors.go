package probes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// StatusError is in the chain of an error when the server answered with another status
// than 200.
type StatusError struct {
	Code   int
	Server string // what the server calls itself; foreign text
	text   string
	is     error
}

func (e *StatusError) Error() string { return e.text }
func (e *StatusError) Unwrap() error { return e.is }

// Denied reports an answer that asks for credentials, or for others.
func Denied(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}

// ErrTLS is in the chain of an error when plain HTTP was spoken to a server that
// expects TLS.
var ErrTLS = errors.New("the server speaks TLS: use https://")

// ErrNoTLS is in the chain of an error when TLS was spoken to a server of plain HTTP.
var ErrNoTLS = errors.New("the server speaks no TLS: use http://")

// ErrUntrusted is in the chain of an error about a certificate that is not trusted.
var ErrUntrusted = errors.New("its certificate is not trusted")

// judge turns an answer that cannot be the page into an error.
func (f *Fetcher) judge(r *http.Response) error {
	if r.StatusCode == http.StatusOK {
		if r.ContentLength > f.o.MaxBytes {
			return fmt.Errorf("%s is %s, the limit is %s: not read", f.URL(), size(r.ContentLength), size(f.o.MaxBytes))
		}
		if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
			return fmt.Errorf("%s came %s-encoded without being asked to", f.URL(), f.quote(coding, 20))
		}
		return nil
	}
	head, _ := io.ReadAll(io.LimitReader(r.Body, 512))
	says := strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
	if text := f.quote(string(head), 80); text != "" && Describe(r.Header.Get("Content-Type"), head) != "HTML" {
		says += fmt.Sprintf(" (%s)", text)
	}
	e := &StatusError{Code: r.StatusCode, Server: f.quote(r.Header.Get("Server"), 100)}
	switch r.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		e.is = ErrNotExposed
		e.text = fmt.Sprintf("%s: %v: the server answered %s", f.URL(), ErrNotExposed, says)
	case http.StatusUnauthorized, http.StatusForbidden:
		e.text = fmt.Sprintf("%s: %s", f.URL(), f.denied(says, r.Header.Get("WWW-Authenticate")))
	case http.StatusBadRequest:
		if e.text = fmt.Sprintf("%s: the server answered %s", f.URL(), says); f.wantsTLS(head) {
			e.is, e.text = ErrTLS, fmt.Sprintf("%s: %v", f.URL(), ErrTLS)
		}
	default:
		e.text = fmt.Sprintf("%s: the server answered %s", f.URL(), says)
	}
	return e
}

// wantsTLS recognises what Go's servers and nginx say to plain HTTP on a port of HTTPS.
func (f *Fetcher) wantsTLS(head []byte) bool {
	text := strings.ToLower(string(head))
	return !f.endpoint.TLS() && strings.Contains(text, "http request") && strings.Contains(text, "https")
}

// denied says which flag helps.
func (f *Fetcher) denied(says, challenge string) string {
	switch {
	case f.signed:
		return fmt.Sprintf("the server refuses the credentials: it answered %s; give others with --auth", says)
	case !f.o.Access.Auth.None():
		return fmt.Sprintf("the server wants credentials: it answered %s; an address that was found gets them only if its process is an engine's "+
			"and belongs to root or you: else name the address", says)
	case len(challenge) >= 5 && strings.EqualFold(challenge[:5], "basic"):
		return fmt.Sprintf("the server wants credentials: it answered %s; give them with --auth basic:USER:PASSWORD", says)
	}
	return fmt.Sprintf("the server wants credentials: it answered %s; give them with --auth bearer:TOKEN", says)
}

// explain says in one line why there was no answer.
func (f *Fetcher) explain(ctx context.Context, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // its text repeats the URL, with what is secret in it
	}
	var dns *net.DNSError
	var enter *NamespaceError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %s: %w", f.URL(), f.o.Timeout, context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", f.URL(), context.Canceled)
	case errors.As(err, &enter):
		return fmt.Errorf("%s: %w", f.URL(), enter)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: nothing listens there (%w)", f.URL(), syscall.ECONNREFUSED)
	case errors.Is(err, errPeer):
		return fmt.Errorf("%s: %w", f.URL(), errPeer)
	case Unreachable(err):
		return fmt.Errorf("%s: %w", f.URL(), &unreachable{err})
	case f.endpoint.socket != "" && errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("%s: there is no such socket (%w)", f.URL(), syscall.ENOENT)
	case f.endpoint.socket != "" && errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: this user may not open the socket (%w)", f.URL(), syscall.EACCES)
	case errors.As(err, &dns):
		return fmt.Errorf("%s: host %q is not known", f.URL(), f.quote(dns.Name, 100))
	}
	if strings.Contains(err.Error(), "readLoopPeekFailLocked") { // net/http's, with a formatting mistake in it
		return fmt.Errorf("%s: the server talks without being asked", f.URL())
	}
	if text := f.explainTLS(err); text != nil {
		return fmt.Errorf("%s: %w", f.URL(), text)
	}
	return fmt.Errorf("%s: %s", f.URL(), f.quote(err.Error(), 200))
}

// explainTLS says what is wrong with http, https or the certificate; nil when nothing is.
func (f *Fetcher) explainTLS(err error) error {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	switch {
	case !f.endpoint.TLS():
		if strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`) { // a TLS alert
			return ErrTLS
		}
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: nobody known here has signed it; name who has with --ca FILE, or do not check it with --insecure", ErrUntrusted)
	case errors.As(err, &name):
		return fmt.Errorf("%w for this name: use the name in it, or do not check it with --insecure", ErrUntrusted)
	case errors.As(err, &invalid):
		return fmt.Errorf("%w: %s; --insecure does not check it", ErrUntrusted, Printable(invalid.Error(), 120))
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return ErrNoTLS
	}
	return nil
}
