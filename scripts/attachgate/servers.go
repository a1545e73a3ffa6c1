package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"llmtop/scripts/internal/faulty"
	"llmtop/scripts/internal/play"
)

// fixture is the page of the good engine.
const fixture = "testdata/expositions/vllm-v1.prom"

// good is the name of the server that is sound.
const good = "a good engine"

// server is one endpoint; its reason is whether an error is wanted of it.
type server struct {
	Name   string
	URL    string
	Reason bool // it has to show an error, or be pending
}

// handlers are the servers by name. elsewhere is an address that a redirect leads to.
func handlers(elsewhere string) ([]server, map[string]http.HandlerFunc, error) {
	f, err := play.Load(fixture)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	page := func() []byte { return play.At(f, play.Loaded, time.Since(began).Seconds()) }
	all := []struct {
		name    string
		reason  bool
		handler http.HandlerFunc
	}{
		{good, false, func(w http.ResponseWriter, r *http.Request) { w.Write(page()) }},
		{"never answers", true, faulty.Hang},
		{"drips a byte a second", true, func(w http.ResponseWriter, r *http.Request) { faulty.Drip(page(), time.Second)(w, r) }},
		{"an endless body", true, faulty.Endless},
		{"a body of 200 MB", true, faulty.Big(200_000_000)},
		{"a million series", true, faulty.Series(1_000_000)},
		{"100 000 labels", false, faulty.Labels(100_000)},
		{"a gzip bomb of 1 GB", true, faulty.GzipBomb(1 << 30)},
		{"redirects to nothing", true, faulty.Redirect(elsewhere)},
		{"redirects to itself", true, faulty.Redirect("/metrics")},
	}
	by := map[string]http.HandlerFunc{}
	var servers []server
	for _, s := range all {
		by[s.name] = s.handler
		servers = append(servers, server{Name: s.name, Reason: s.reason})
	}
	return servers, by, nil
}

// serveAll is the other process: it tells its servers as JSON on out and ends when in does.
func serveAll(in io.Reader, out io.Writer) error {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	closed.Close() // nothing listens there any more
	servers, by, err := handlers("http://" + closed.Addr().String())
	if err != nil {
		return err
	}
	for i := range servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		servers[i].URL = "http://" + l.Addr().String()
		go http.Serve(l, by[servers[i].Name]) // until the process ends
	}
	if err := json.NewEncoder(out).Encode(servers); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// startServers starts this program again as the servers.
func startServers() (servers []server, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, "-serve")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		in.Close()
		cmd.Wait() // it has done what it was for
	}
	if err := json.NewDecoder(out).Decode(&servers); err != nil {
		stop()
		return nil, nil, fmt.Errorf("the servers told no addresses: %w", err)
	}
	return servers, stop, nil
}
