// Exposition plays a metrics page over HTTP: a fixture of testdata/expositions whose
// counters move, in the state of the engine that is wanted, so that what reads such
// pages can be tried without the engine. What moves is said in the fixture; see the
// package comment of scripts/internal/play.
//
//	go run ./scripts/exposition -addr 127.0.0.1:8000 -state loaded testdata/expositions/vllm-v1.prom
//	go run ./scripts/exposition -state loaded -then 30s:saturated -then 60s:restarted testdata/expositions/vllm-v1.prom
//	go run ./scripts/exposition -path /prometheus/metrics -page /version=version.json -auth bearer:t0ken FIXTURE
//	go run ./scripts/exposition -unix /tmp/engine.sock FIXTURE
//	go run ./scripts/exposition -tls -ca-file /tmp/ca.pem FIXTURE
//	go run ./scripts/exposition -hang FIXTURE
//
// It listens on loopback addresses only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"llmtop/scripts/internal/play"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "exposition:", err)
		os.Exit(2)
	}
}

// options are the flags.
type options struct {
	addr, unix, caFile string
	tls                bool
	state              string
	then               list
	page               pageOptions
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func parseFlags(args []string) (o options, file string, err error) {
	f := flag.NewFlagSet("exposition", flag.ContinueOnError)
	f.StringVar(&o.addr, "addr", "127.0.0.1:8000", "loopback address to listen on; port 0 takes a free one")
	f.StringVar(&o.unix, "unix", "", "listen on this unix socket instead")
	f.BoolVar(&o.tls, "tls", false, "speak HTTPS, with a certificate made at the start")
	f.StringVar(&o.caFile, "ca-file", "", "with -tls: write the certificate here, for clients to trust")
	f.StringVar(&o.state, "state", "loaded", "idle, loaded, saturated, restarted or stale")
	f.Var(&o.then, "then", "a later state, as in 30s:stale; a restart is a state too (repeatable)")
	o.page.flags(f)
	if err := f.Parse(args); err != nil {
		return o, "", err
	}
	if f.NArg() != 1 {
		return o, "", errors.New("name one fixture, as in testdata/expositions/vllm-v1.prom")
	}
	return o, f.Arg(0), nil
}

func run(args []string) error {
	o, file, err := parseFlags(args)
	if err != nil {
		return err
	}
	fixture, err := play.Load(file)
	if err != nil {
		return err
	}
	timeline, err := timeline(o.state, o.then)
	if err != nil {
		return err
	}
	handler, err := newHandler(fixture, timeline, o.page, time.Now)
	if err != nil {
		return err
	}
	listener, address, err := listen(o)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s: %s%s\n", file, o.state, address, o.page.path)
	return serve(listener, handler)
}

// serve answers until Ctrl-C.
func serve(l net.Listener, h http.Handler) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close() // requests that hang are not waited for
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// timeline is the first state and those that -then tells.
func timeline(first string, then []string) (play.Timeline, error) {
	s, err := play.ParseState(first)
	if err != nil {
		return nil, err
	}
	t := play.Timeline{{Seconds: 0, State: s}}
	for _, text := range then {
		at, name, _ := strings.Cut(text, ":")
		d, err := time.ParseDuration(at)
		if err != nil {
			return nil, fmt.Errorf("-then %s: not like 30s:stale", text)
		}
		if s, err = play.ParseState(name); err != nil {
			return nil, fmt.Errorf("-then %s: %w", text, err)
		}
		if d.Seconds() < t[len(t)-1].Seconds {
			return nil, fmt.Errorf("-then %s: comes before the state that stands before it", text)
		}
		t = append(t, play.Turn{Seconds: d.Seconds(), State: s})
	}
	return t, nil
}
