package probes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// Post sends body to the page, on a connection of its own, and returns the answer as
// it comes, whatever its status. ctx bounds the whole exchange, reading included; the
// caller bounds the bytes it reads and closes the body. Errors, those of reading the
// body too, are one line without credentials.
func (f *Fetcher) Post(ctx context.Context, header map[string]string, body []byte) (*http.Response, error) {
	response, err := f.post(ctx, header, body)
	if err == nil && f.wantsCredentials(response.StatusCode) {
		response.Body.Close()
		f.demanded = true
		return f.post(ctx, header, body)
	}
	return response, err
}

// wantsCredentials reports that an answer asks for credentials that were not sent and may be.
func (f *Fetcher) wantsCredentials(status int) bool {
	denied := status == http.StatusUnauthorized || status == http.StatusForbidden
	return denied && !f.signed && !f.o.Access.Auth.None() && f.o.Access.When()
}

func (f *Fetcher) post(ctx context.Context, header map[string]string, body []byte) (*http.Response, error) {
	u := f.endpoint.base
	u.Path += f.path
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: not a usable address", f.URL())
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	f.sign(r)
	r.Close = true // a connection that is kept would tell nothing of dialling
	response, err := f.client.Do(r)
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	response.Body = &explainedBody{ReadCloser: response.Body, explain: func(err error) error { return f.explain(ctx, err) }}
	return response, nil
}

// explainedBody is a body whose errors are explained.
type explainedBody struct {
	io.ReadCloser
	explain func(error) error
}

func (b *explainedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.explain(err)
	}
	return n, err
}
