package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// engineView is what the engine says of itself.
type engineView struct {
	url   string
	http  *http.Client
	next  uint64 // of the finished requests
	first page   // when the soak began
}

func newEngineView(url string) *engineView {
	return &engineView{url: url, http: &http.Client{Timeout: 10 * time.Second}}
}

// atRest is the engine's state with nothing to do, after a garbage collection.
type atRest struct {
	page     page
	inFlight int
}

// restWithin is how long the engine may take to end what it has: as long as it
// waits for a client that does not read, and some.
const restWithin = 90 * time.Second

// rest waits until the engine has nothing to do and its counts stand still, and
// looks at it then. An engine that does not come to rest is looked at as it is.
func (e *engineView) rest() (atRest, error) {
	defer e.http.CloseIdleConnections()
	var last atRest
	for deadline := time.Now().Add(restWithin); ; time.Sleep(500 * time.Millisecond) {
		if err := e.collectGarbage(); err != nil {
			return last, err
		}
		e.http.CloseIdleConnections()
		now, err := e.look()
		if err != nil {
			return last, err
		}
		still := last.page != nil && now.page.sum("go_goroutines") == last.page.sum("go_goroutines")
		if now.idle() && still || time.Now().After(deadline) {
			return now, nil
		}
		last = now
	}
}

func (s atRest) idle() bool {
	return s.inFlight == 0 && s.page.sum("vllm:num_requests_running")+s.page.sum("vllm:num_requests_waiting") == 0 && s.page.sum("vllm:kv_cache_usage_perc") == 0
}

func (e *engineView) look() (s atRest, err error) {
	if s.page, err = e.scrape(); err != nil {
		return s, err
	}
	var a requestsAnswer
	err = e.get("/debug/requests?state=running&limit=1", func(r io.Reader) error { return json.NewDecoder(r).Decode(&a) })
	s.inFlight = a.InFlight
	return s, err
}

func (e *engineView) scrape() (p page, err error) {
	err = e.get("/metrics", func(r io.Reader) error {
		p, err = readPage(r)
		return err
	})
	return p, err
}

// collectGarbage makes the engine's process collect its garbage.
func (e *engineView) collectGarbage() error {
	return e.get("/debug/pprof/heap?gc=1", func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	})
}

func (e *engineView) get(path string, read func(io.Reader) error) error {
	res, err := e.http.Get(e.url + path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", path, res.StatusCode)
	}
	return read(res.Body)
}
