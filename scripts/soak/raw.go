package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// The acts of this file need the connection itself.

// dial opens a connection; nil means that it failed, which is in the books.
func (c *client) dial(name string) *net.TCPConn {
	conn, err := net.DialTimeout("tcp", c.host, 10*time.Second)
	if err != nil {
		c.fail(name, err)
		return nil
	}
	return conn.(*net.TCPConn)
}

func (c *client) head(r request) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", r.path, c.host, len(r.body))
}

// send writes a whole request. An error shows when the answer is read.
func (c *client) send(conn *net.TCPConn, r request) {
	io.WriteString(conn, c.head(r)+string(r.body))
}

// halfBody goes away before its body is sent whole.
func (c *client) halfBody(name string) ending {
	conn := c.dial(name)
	if conn == nil {
		return failed
	}
	defer conn.Close()
	r := newRequest(c.rng, c.sizes)
	io.WriteString(conn, c.head(r)+string(r.body[:c.rng.IntN(len(r.body))]))
	time.Sleep(c.upTo(time.Second))
	return left
}

// halfClose sends a request, closes its sending side and reads on: the engine takes
// it for gone, and must not leave it waiting.
func (c *client) halfClose(name string) ending {
	conn := c.dial(name)
	if conn == nil {
		return failed
	}
	defer conn.Close()
	c.send(conn, newRequest(c.rng, c.sizes))
	time.Sleep(c.upTo(time.Second))
	conn.CloseWrite()
	conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
		return c.fail(name, err)
	}
	return left
}

// vanish breaks the connection off, with a reset.
func (c *client) vanish(name string) ending {
	conn := c.dial(name)
	if conn == nil {
		return failed
	}
	c.send(conn, newRequest(c.rng, c.sizes))
	time.Sleep(c.upTo(2 * time.Second))
	conn.SetLinger(0)
	conn.Close()
	return left
}

// silent says nothing, or half a head, for a while.
func (c *client) silent(name string) ending {
	conn := c.dial(name)
	if conn == nil {
		return failed
	}
	defer conn.Close()
	if c.rng.IntN(2) == 0 {
		io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: ")
	}
	time.Sleep(c.upTo(2 * time.Second))
	return left
}

// readSlowly takes a stream in small pieces with pauses, through a small window, so
// that the engine has to wait with writing. Then it reads on, or goes away.
func (c *client) readSlowly(name string) ending {
	conn := c.dial(name)
	if conn == nil {
		return failed
	}
	defer conn.Close()
	conn.SetReadBuffer(2048)
	conn.SetReadDeadline(time.Now().Add(patience))
	r := newRequest(c.rng, c.sizes)
	c.send(conn, r)
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return c.fail(name, err)
	}
	piece := make([]byte, 64)
	for n := c.rng.IntN(30); n > 0; n-- {
		if _, err := io.ReadFull(res.Body, piece); err != nil {
			break
		}
		time.Sleep(c.upTo(200 * time.Millisecond))
	}
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		return rejected
	case c.rng.IntN(2) == 0:
		return left
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return c.fail(name, err)
	}
	return answered
}

func isTimeout(err error) bool {
	t, ok := err.(net.Error)
	return ok && t.Timeout()
}
