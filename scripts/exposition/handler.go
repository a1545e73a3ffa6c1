package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"llmtop/scripts/internal/faulty"
	"llmtop/scripts/internal/play"
)

// pageOptions are the flags about the answers.
type pageOptions struct {
	path, contentType string
	pages, headers    list
	auth, startHeader string
	delay             time.Duration
	status            int
	hang, drip        bool
	endless, quoted   bool
	gzipBomb          bool
	redirect          string
}

func (o *pageOptions) flags(f *flag.FlagSet) {
	f.StringVar(&o.path, "path", "/metrics", "of the metrics page; others are 404")
	f.StringVar(&o.contentType, "content-type", "text/plain; version=0.0.4; charset=utf-8", "of the metrics page")
	f.Var(&o.pages, "page", "another page, as in /version=FILE; JSON when the file begins so (repeatable)")
	f.Var(&o.headers, "header", "of every answer, as in 'Server: llama.cpp' (repeatable)")
	f.StringVar(&o.startHeader, "start-header", "", "header of the metrics page that holds the Unix time of the process's start, as in Process-Start-Time-Unix")
	f.StringVar(&o.auth, "auth", "", "wanted of every request: bearer:TOKEN, basic:USER:PASSWORD or key:VALUE (X-API-Key)")
	f.DurationVar(&o.delay, "delay", 0, "wait before each answer")
	f.IntVar(&o.status, "status", http.StatusOK, "of the metrics page; one that is not 200 comes without the page")
	f.BoolVar(&o.hang, "hang", false, "take requests for the page and never answer")
	f.BoolVar(&o.drip, "drip", false, "send the page with one byte a second")
	f.BoolVar(&o.endless, "endless", false, "send a page that never ends")
	f.BoolVar(&o.quoted, "json-quoted", false, "send the page as one JSON string")
	f.BoolVar(&o.gzipBomb, "gzip-bomb", false, "send 1 MB of gzip that unpacks to 1 GB, unasked")
	f.StringVar(&o.redirect, "redirect", "", "send clients to this address")
}

// newHandler answers with the page at the seconds since the first call of now.
func newHandler(f *play.Fixture, t play.Timeline, o pageOptions, now func() time.Time) (http.Handler, error) {
	began := now()
	metrics, err := o.metrics(func() ([]byte, float64) {
		seconds := now().Sub(began).Seconds()
		return f.Page(t, seconds), f.Began(t, seconds)
	})
	if err != nil {
		return nil, err
	}
	pages := map[string]http.HandlerFunc{o.path: metrics}
	for _, p := range o.pages {
		path, file, ok := strings.Cut(p, "=")
		if !ok || !strings.HasPrefix(path, "/") || pages[path] != nil {
			return nil, fmt.Errorf("-page %s: not like /version=FILE, or there twice", p)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		pages[path] = static(text)
	}
	return o.guard(func(w http.ResponseWriter, r *http.Request) {
		if page := pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		http.NotFound(w, r)
	})
}

// guard is what all answers have in common: headers, delay, credentials.
func (o pageOptions) guard(h http.HandlerFunc) (http.Handler, error) {
	allowed, err := parseAuth(o.auth)
	if err != nil {
		return nil, err
	}
	for _, line := range o.headers {
		if name, _, ok := strings.Cut(line, ":"); !ok || name == "" {
			return nil, fmt.Errorf("-header %q: not like 'Name: value'", line)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, line := range o.headers {
			name, value, _ := strings.Cut(line, ":")
			w.Header().Set(name, strings.TrimSpace(value))
		}
		if !wait(r, o.delay) {
			return
		}
		if !allowed(r) {
			http.Error(w, "credentials are wanted", http.StatusUnauthorized)
			return
		}
		h(w, r)
	}), nil
}

func wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}

// bombSize is what a gzip bomb unpacks to.
const bombSize = 1 << 30

// metrics is the handler of the page itself: the fault asked for, or the page.
func (o pageOptions) metrics(page func() (text []byte, began float64)) (http.HandlerFunc, error) {
	var faults []http.HandlerFunc
	if o.hang {
		faults = append(faults, faulty.Hang)
	}
	if o.endless {
		faults = append(faults, faulty.Endless)
	}
	if o.gzipBomb {
		faults = append(faults, faulty.GzipBomb(bombSize))
	}
	if o.redirect != "" {
		faults = append(faults, faulty.Redirect(o.redirect))
	}
	if o.drip {
		faults = append(faults, func(w http.ResponseWriter, r *http.Request) {
			text, _ := page()
			faulty.Drip(text, time.Second)(w, r)
		})
	}
	if o.status != http.StatusOK {
		faults = append(faults, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, http.StatusText(o.status), o.status)
		})
	}
	switch {
	case o.status < 200 || o.status > 599:
		return nil, fmt.Errorf("-status %d is none of an answer", o.status)
	case len(faults) > 1:
		return nil, errors.New("one fault at a time: -hang, -drip, -endless, -gzip-bomb, -redirect or -status")
	case len(faults) == 1:
		return faults[0], nil
	}
	return func(w http.ResponseWriter, r *http.Request) {
		text, began := page()
		kind := o.contentType
		if o.quoted {
			quoted, err := json.Marshal(string(text))
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			text, kind = quoted, "application/json"
		}
		w.Header().Set("Content-Type", kind)
		if o.startHeader != "" {
			w.Header().Set(o.startHeader, strconv.FormatFloat(began, 'f', 0, 64))
		}
		w.Write(text)
	}, nil
}

// static answers with a file.
func static(text []byte) http.HandlerFunc {
	kind := "text/plain; charset=utf-8"
	if json.Valid(text) {
		kind = "application/json"
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Write(text)
	}
}
