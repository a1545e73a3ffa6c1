package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// patience is longer than any request may take.
const patience = 2 * time.Minute

// patient waits for the whole answer.
func (c *client) patient(name string) ending {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := newRequest(c.rng, c.sizes)
	res, err := c.post(ctx, r)
	if err != nil {
		return c.fail(name, err)
	}
	defer res.Body.Close()
	return c.whole(name, r, res)
}

// whole reads an answer to its end.
func (c *client) whole(name string, r request, res *http.Response) ending {
	body, err := io.ReadAll(res.Body)
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		return rejected
	case res.StatusCode != http.StatusOK:
		return c.fail(name, fmt.Errorf("status %d", res.StatusCode))
	case err != nil:
		return c.fail(name, err)
	case r.stream && !bytes.HasSuffix(bytes.TrimSpace(body), []byte("data: [DONE]")):
		return c.fail(name, errors.New("the stream has no end"))
	case !r.stream && !bytes.Contains(body, []byte(`"finish_reason":`)):
		return c.fail(name, errors.New("the answer has no finish reason"))
	}
	return answered
}

// leave goes away after a random time: while the request is received, queued, in
// prefill or in decode.
func (c *client) leave(name string) ending {
	ctx, cancel := context.WithTimeout(context.Background(), c.upTo(3*time.Second))
	defer cancel()
	r := newRequest(c.rng, c.sizes)
	res, err := c.post(ctx, r)
	if err != nil {
		return c.gone(ctx, name, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusTooManyRequests {
		return rejected
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return c.gone(ctx, name, err)
	}
	return answered
}

// gone is the ending of a request that was given up when ctx ended.
func (c *client) gone(ctx context.Context, name string, err error) ending {
	if ctx.Err() == nil {
		return c.fail(name, err)
	}
	return left
}

// leaveReading goes away after some events of a stream.
func (c *client) leaveReading(name string) ending {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := newRequest(c.rng, c.sizes)
	res, err := c.post(ctx, r)
	if err != nil {
		return c.fail(name, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusTooManyRequests {
		return rejected
	}
	for lines, n := bufio.NewScanner(res.Body), 2*c.rng.IntN(40); n > 0 && lines.Scan(); n-- {
	}
	return left // closing the body breaks the connection
}

// nonsense sends a request that is wrong.
func (c *client) nonsense(name string) ending {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := c.post(ctx, request{path: "/v1/completions", body: []byte(wrongBodies[c.rng.IntN(len(wrongBodies))])})
	if err != nil {
		return c.fail(name, err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body) // so that the connection can be used again
	if res.StatusCode != http.StatusBadRequest {
		return c.fail(name, fmt.Errorf("status %d", res.StatusCode))
	}
	return refused
}

func (c *client) post(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return c.http.Do(req)
}

func (c *client) fail(name string, err error) ending {
	c.ledger.fail(name, err)
	return failed
}
