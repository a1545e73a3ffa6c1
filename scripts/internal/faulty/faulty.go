// Package faulty serves metrics pages the way broken and hostile servers do, for the
// programs of this folder. A handler ends when its client goes away.
package faulty

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const kind = "text/plain; version=0.0.4; charset=utf-8"

// Hang takes a request and never answers.
func Hang(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Drip sends a page byte by byte.
func Drip(page []byte, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for i := range page {
			if !send(w, page[i:i+1]) {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	}
}

// Endless sends the same series for ever.
func Endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", kind)
	chunk := []byte(strings.Repeat("endless_total{a=\"b\"} 1\n", 1000))
	for r.Context().Err() == nil && send(w, chunk) {
	}
}

// Big sends a page of about so many bytes without telling its length.
func Big(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		chunk := []byte("# " + strings.Repeat("padding ", 8000) + "\n")
		for sent := 0; sent < size && send(w, chunk); sent += len(chunk) {
		}
	}
}

// Series sends a page of n series.
func Series(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "many{i=\"%d\"} 1\n", i)
			if b.Len() > 1<<15 || i == n-1 {
				if !send(w, b.Bytes()) {
					return
				}
				b.Reset()
			}
		}
	}
}

// Labels sends one series with n labels, and one that is sound.
func Labels(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		var b bytes.Buffer
		b.WriteString("wide{")
		for i := range n {
			fmt.Fprintf(&b, "l%d=\"v\",", i)
		}
		b.WriteString("} 1\nsound 1\n")
		send(w, b.Bytes())
	}
}

// GzipBomb sends a small body that unpacks to so many bytes, whether or not gzip was asked for.
func GzipBomb(size int64) http.HandlerFunc {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.CopyN(z, zeros{}, size)
	if err == nil {
		err = z.Close()
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err != nil { // a buffer in memory takes all
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Encoding", "gzip")
		send(w, packed.Bytes())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Redirect sends the client to another address.
func Redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

// send writes and flushes; false when the client is gone.
func send(w http.ResponseWriter, b []byte) bool {
	if _, err := w.Write(b); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}
