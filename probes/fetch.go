package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// FetchOptions bound and shape the requests of a Fetcher. Zero values mean the defaults.
type FetchOptions struct {
	Timeout   time.Duration     // whole exchange; default 2 s
	MaxBytes  int64             // of the body; default 16 MiB
	Accept    string            // Accept header
	Access    Access            // credentials and trust in certificates
	Transport http.RoundTripper // default: one kept-alive connection of its own, see NewTransport
}

// Fetcher gets pages of one endpoint for the HTTP probes. Each answer is bounded
// in time and bytes, and each error is one line that says what was found where,
// without credentials. One goroutine uses it at a time.
type Fetcher struct {
	endpoint Endpoint
	path     string
	client   http.Client
	o        FetchOptions
	demanded bool // the server asked for credentials that are not sent unasked
	signed   bool // the last request had credentials
	buf      bytes.Buffer
}

// Page is a fetched body. Body is valid until the Fetcher's next Get.
type Page struct {
	URL         string // without credentials or query
	ContentType string
	Server      string // what the server calls itself; foreign text
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
		o.Transport = NewTransport(endpoint, o.Access)
	}
	f := &Fetcher{endpoint: endpoint, path: path, o: o}
	f.client = http.Client{Transport: o.Transport, CheckRedirect: sameServer}
	return f
}

// URL is the address of the page, without credentials or query.
func (f *Fetcher) URL() string { return Printable(f.endpoint.at(f.path), 500) }

// SetPath turns to another page below the endpoint.
func (f *Fetcher) SetPath(path string) { f.path = path }

// Path is the path of the page below the endpoint.
func (f *Fetcher) Path() string { return f.path }

// Get fetches the page with the query.
func (f *Fetcher) Get(ctx context.Context, query url.Values) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	u := f.endpoint.base
	u.Path += f.path
	u.RawQuery = query.Encode()
	page, err := f.get(ctx, u.String())
	if Denied(err) && !f.signed && !f.o.Access.Auth.None() && f.o.Access.When() {
		f.demanded = true
		page, err = f.get(ctx, u.String())
	}
	return page, err
}

func (f *Fetcher) get(ctx context.Context, address string) (*Page, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
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
	if f.buf.Cap() > 1<<20 && response.ContentLength >= 0 && response.ContentLength < 1<<18 {
		f.buf = bytes.Buffer{} // one huge page must not be paid for ever after
	}
	if told := response.ContentLength; told > 0 && told <= 1<<20 {
		f.buf.Reset()
		f.buf.Grow(int(told) + 1) // and the end, so that it is read in one piece
	}
	n, err := readBody(&f.buf, response.Body, f.o.MaxBytes)
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	if n > f.o.MaxBytes {
		f.buf = bytes.Buffer{}
		return nil, fmt.Errorf("%s is larger than %s: not read", f.URL(), size(f.o.MaxBytes))
	}
	return &Page{URL: f.URL(), ContentType: response.Header.Get("Content-Type"),
		Server: f.quote(response.Header.Get("Server"), 100), Body: f.buf.Bytes()}, nil
}

// Close ends the kept connection.
func (f *Fetcher) Close() error {
	f.client.CloseIdleConnections()
	return nil
}

// sign adds the credentials that may go with this request.
func (f *Fetcher) sign(r *http.Request) {
	r.Header.Set("User-Agent", "llmtop")
	if f.o.Accept != "" {
		r.Header.Set("Accept", f.o.Accept)
	}
	f.signed = true
	switch access := f.o.Access; {
	case !access.Auth.None() && (access.When == nil || f.demanded && access.When()):
		access.Auth.sign(r)
	case access.When != nil:
		f.signed = false
	case f.endpoint.user != nil:
		password, _ := f.endpoint.user.Password()
		r.SetBasicAuth(f.endpoint.user.Username(), password)
	default:
		f.signed = false
	}
}
