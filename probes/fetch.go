package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// FetchOptions bound and shape the requests of a Fetcher. Zero values mean the defaults.
type FetchOptions struct {
	Timeout   time.Duration     // whole exchange; default 2 s
	MaxBytes  int64             // of the body; default 16 MiB
	Accept    string            // Accept header
	Bearer    string            // token of an Authorization header; kept in memory only
	Transport http.RoundTripper // default: one kept-alive connection of its own
}

// Fetcher gets pages of one endpoint for the HTTP probes. Each answer is bounded
// in time and bytes, and each error is one line that says what was found where,
// without credentials. One goroutine uses it at a time.
type Fetcher struct {
	endpoint Endpoint
	path     string
	client   http.Client
	o        FetchOptions
	buf      bytes.Buffer
}

// Page is a fetched body. Body is valid until the Fetcher's next Get.
type Page struct {
	URL         string // without credentials or query
	ContentType string
	Body        []byte
}

// ErrNotExposed is in the chain of an error when the server is there and says
// that it does not have the page (404 and the like).
var ErrNotExposed = errors.New("not exposed")

// NewFetcher returns a fetcher for path below the endpoint.
func NewFetcher(endpoint Endpoint, path string, o FetchOptions) *Fetcher {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 16 << 20
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			MaxIdleConns:           1,
			IdleConnTimeout:        2 * time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true, // both ends save CPU, and no page grows in our hands
		}
	}
	f := &Fetcher{endpoint: endpoint, path: path, o: o}
	f.client = http.Client{Transport: o.Transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 3 {
			return errors.New("more than 3 redirects")
		}
		return nil
	}}
	return f
}

// URL is the address of the page, without credentials or query.
func (f *Fetcher) URL() string { return f.endpoint.String() + f.path }

// Get fetches the page with the query.
func (f *Fetcher) Get(ctx context.Context, query url.Values) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	u := f.endpoint.base
	u.Path += f.path
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: not a usable address", f.URL())
	}
	f.sign(r)
	response, err := f.client.Do(r)
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	defer response.Body.Close()
	if err := f.judge(response); err != nil {
		return nil, err
	}
	f.buf.Reset()
	if f.buf.Cap() > 1<<20 && response.ContentLength >= 0 && response.ContentLength < 1<<18 {
		f.buf = bytes.Buffer{} // one huge page must not be paid for ever after
	}
	n, err := f.buf.ReadFrom(io.LimitReader(response.Body, f.o.MaxBytes+1))
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	if n > f.o.MaxBytes {
		f.buf = bytes.Buffer{}
		return nil, fmt.Errorf("%s is larger than %s: not read", f.URL(), size(f.o.MaxBytes))
	}
	return &Page{URL: f.URL(), ContentType: response.Header.Get("Content-Type"), Body: f.buf.Bytes()}, nil
}

// Close ends the kept connection.
func (f *Fetcher) Close() error {
	f.client.CloseIdleConnections()
	return nil
}

func (f *Fetcher) sign(r *http.Request) {
	r.Header.Set("User-Agent", "llmtop")
	if f.o.Accept != "" {
		r.Header.Set("Accept", f.o.Accept)
	}
	if f.o.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+f.o.Bearer)
	} else if user := f.endpoint.user; user != nil {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
}

// judge turns an answer that cannot be the page into an error.
func (f *Fetcher) judge(r *http.Response) error {
	if r.StatusCode == http.StatusOK {
		if r.ContentLength > f.o.MaxBytes {
			return fmt.Errorf("%s is %s, the limit is %s: not read", f.URL(), size(r.ContentLength), size(f.o.MaxBytes))
		}
		if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
			return fmt.Errorf("%s came %s-encoded without being asked to", f.URL(), Printable(coding, 20))
		}
		return nil
	}
	head, _ := io.ReadAll(io.LimitReader(r.Body, 512))
	status := fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode))
	says := strings.TrimSpace(status)
	if text := Printable(string(head), 80); text != "" && Describe(r.Header.Get("Content-Type"), head) != "HTML" {
		says += fmt.Sprintf(" (%s)", text)
	}
	switch r.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		return fmt.Errorf("%s: %w: the server answered %s", f.URL(), ErrNotExposed, says)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: the server wants credentials: it answered %s", f.URL(), says)
	}
	return fmt.Errorf("%s: the server answered %s", f.URL(), says)
}

// explain says in one line why there was no answer.
func (f *Fetcher) explain(ctx context.Context, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // its text repeats the URL, with what is secret in it
	}
	var dns *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %s: %w", f.URL(), f.o.Timeout, context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", f.URL(), context.Canceled)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: nothing listens there (%w)", f.URL(), syscall.ECONNREFUSED)
	case errors.As(err, &dns):
		return fmt.Errorf("%s: host %q is not known", f.URL(), Printable(dns.Name, 100))
	}
	return fmt.Errorf("%s: %s", f.URL(), Printable(err.Error(), 200))
}

// Describe names what a body is that is not what was asked for: HTML, JSON, text or nothing.
func Describe(contentType string, body []byte) string {
	body = bytes.TrimLeft(body, " \t\r\n\ufeff")
	switch {
	case len(body) == 0:
		return "an empty page"
	case body[0] == '<' || strings.HasPrefix(contentType, "text/html"):
		return "HTML"
	case body[0] == '{' || body[0] == '[' || body[0] == '"' || strings.HasPrefix(contentType, "application/json"):
		return "JSON"
	case body[0] == 0x1f || bytes.IndexByte(body[:min(len(body), 512)], 0) >= 0:
		return "binary data"
	}
	return fmt.Sprintf("text (%q)", Printable(string(body[:min(len(body), 200)]), 40))
}

// size prints a number of bytes in MiB, or in bytes when it is small.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
