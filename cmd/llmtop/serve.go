package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/cmd/llmtop/internal/seams"
	"llmtop/engine"
	"llmtop/probes/host"
)

type serveOptions struct {
	addr       string
	modelPath  string
	withParent bool
	drain      time.Duration // for the requests in flight, after the first signal
	log        logOptions
	engine     engine.Config
	scheduler  schedulerFlags
	twin       twinFlags
}

// speculativeOff is the flag's word for no speculation.
const speculativeOff = "off"

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run llmtop's own serving engine (OpenAI API, vLLM's metrics)",
		Long: `Serves a Llama or Qwen2 GGUF model on the CPU with continuous batching and a paged KV
cache: /v1/chat/completions, /v1/completions, /v1/models, /health (ready; also
/health/live and /health/ready), /metrics under vLLM's names, /debug/requests and
/debug/pprof. Without --model it serves the small model that is built in. An API key
is taken from ` + apiKeyVariable + `.

With --twin no model runs: steps take the time that a model of real GPUs says they would, and
answers are placeholder text (docs/twin-live.md). llmtop attached to it shows those GPUs and
their host, marked SIMULATED.

What happens to requests is logged as JSON lines, lengths and times, never text. The
first SIGTERM or ctrl-c lets the requests in flight finish, a second one ends at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:8000", "`address` to listen on; port 0 picks a free one")
	f.StringVar(&o.modelPath, "model", "", "GGUF `file` to serve")
	o.scheduler.add(cmd, &o.engine)
	o.twin.add(cmd)
	f.StringVar(&o.engine.KVCacheType, "kv-cache-dtype", "f32", "keep keys and values as `f32|int8`; int8 takes little more than a quarter of the memory a block")
	f.StringVar(&o.engine.Speculative, "speculative", speculativeOff, "guess tokens, `off|ngram|draft`: other speed, same answers")
	f.StringVar(&o.engine.DraftModelPath, "draft-model", "", "GGUF `file` of the draft model; "+engine.RandomDraft+": one that guesses wrong (default: the built-in one)")
	f.IntVar(&o.engine.NumSpeculativeTokens, "num-speculative-tokens", engine.DefaultNumSpeculativeTokens, "guesses for a sequence in a step")
	f.IntVar(&o.engine.Threads, "threads", 0, "threads of the forward pass (0: all cores)")
	f.IntVar(&o.engine.TokenizerThreads, "tokenizer-threads", 0, "most texts tokenized at once (0: all cores)")
	f.StringVar(&o.engine.TokenizerCache, "tokenizer-cache", engine.On, "`on|off`; off reads the vocabulary from the file for every request")
	f.StringVar(&o.engine.Assemble, "assemble", engine.Precompiled, "how chats become prompts, `precompiled|naive`; naive makes the prompt anew for each message")
	f.DurationVar(&o.drain, "drain-timeout", 30*time.Second, "how long requests in flight may take to finish when it is to end")
	f.StringVar(&o.log.mode, "log", "async", "event log, `async|sync|off`; async never waits and may drop lines, with sync the engine waits for each line")
	f.StringVar(&o.log.file, "log-file", "", "append the event log to this `file` (default: standard error)")
	f.BoolVar(&o.withParent, "with-parent", false, "end with the parent process")
	f.MarkHidden("with-parent")
	return cmd
}

func runServe(cmd *cobra.Command, o serveOptions) (err error) {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	if err := cmp.Or(checkDuration("drain-timeout", o.drain), o.scheduler.check(), checkAddr(o.addr), o.twin.check(cmd)); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // who read the output may go; the engine serves on
	log, closeLog, err := o.log.open(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, failed(closeLog(), "")) }()
	o.engine.Log = log
	o.configure(cancel)
	if o.twin.gpu != "" {
		return runTwin(ctx, cmd, o, cancel)
	}
	o.engine.Threads = cmp.Or(o.engine.Threads, runtime.GOMAXPROCS(0))
	e, err := newEngine(cmd, o.engine)
	if err != nil {
		return err
	}
	keepWithin(e.Budget().Limit)
	spareProcessor(o.engine.Threads)
	listener, err := listenOn(cmd, o.addr, o.engine.APIKey != "")
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "serving %s on http://%s (ctrl-c ends it)\n", cmp.Or(o.engine.ModelName, "the built-in model"), listener.Addr())
	writeBudget(cmd.OutOrStdout(), e.Budget())
	return serveUntil(ctx, e, e.Handler(), listener, o.drain, cmd.OutOrStdout())
}

// newEngine makes the engine and passes on what it warns of.
func newEngine(cmd *cobra.Command, c engine.Config) (*engine.Engine, error) {
	e, err := engine.New(c)
	if bad := (*engine.ConfigError)(nil); errors.As(err, &bad) {
		return nil, usage(err, "")
	}
	if err != nil {
		return nil, failed(err, "")
	}
	for _, w := range e.Warnings() {
		fmt.Fprintln(cmd.ErrOrStderr(), "llmtop: warning:", w)
	}
	return e, nil
}

// listenOn opens the address, and warns when that is open to others.
func listenOn(cmd *cobra.Command, addr string, key bool) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, failed(fmt.Errorf("listening on %s: %w", addr, err), "choose another address with --addr")
	}
	if open := exposed(listener.Addr(), key); open != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "llmtop: warning:", open)
	}
	return listener, nil
}

// spareProcessor lets Go run one thread more than the forward pass takes. Else a
// handler waits until the Go scheduler takes a thread away from the forward pass,
// 10 ms each time; the kernel gives it a core at once.
func spareProcessor(threads int) {
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
}

// newServer bounds what a connection costs before and between requests; the engine
// bounds bodies and writes itself, since a stream may take as long as it likes.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// serveUntil runs the engine and its HTTP server until ctx ends or one of them fails.
// When ctx ends the requests in flight may take so long to finish; meanwhile new ones
// are refused and the engine's state can still be read.
func serveUntil(ctx context.Context, e *engine.Engine, h http.Handler, listener net.Listener, drain time.Duration, out io.Writer) error {
	server := newServer(h)
	loop, stop := context.WithCancel(context.WithoutCancel(ctx))
	looped, served := make(chan error, 1), make(chan error, 1)
	go func() { looped <- e.Run(loop) }()
	go func() { served <- server.Serve(listener) }()
	var err error
	select {
	case <-ctx.Done():
		if n := e.InFlight(); n > 0 && drain > 0 {
			fmt.Fprintf(out, "requests in flight: %d, they have %s to finish (once more ends at once)\n", n, drain)
		}
		end, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		_ = e.Drain(end) // what has not finished by then is aborted
		stop()
		select {
		case err = <-looped:
		case <-time.After(time.Second): // a step that takes long, or hangs, ends with the process
		}
	case err = <-looped:
		stop()
	case err = <-served:
		stop()
	}
	shut(server)
	return failed(err, "")
}

// shut lets the last bytes go out; the answers have been written or aborted.
func shut(server *http.Server) {
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = server.Shutdown(grace)
	_ = server.Close()
}

// configure fills the engine's configuration; as a child of a demo or a drill it also takes
// control lines for the wrappers at its seams.
func (o *serveOptions) configure(end func()) {
	o.engine.APIKey = apiKey()
	o.scheduler.configure(&o.engine)
	if o.engine.Speculative == speculativeOff {
		o.engine.Speculative = ""
	}
	o.engine.ModelPath = o.modelPath
	o.engine.MemoryBytes = host.MemoryLimit("/")
	if o.modelPath != "" {
		o.engine.ModelName = strings.TrimSuffix(filepath.Base(o.modelPath), ".gguf")
	}
	if !o.withParent {
		return
	}
	o.drain = 0 // nobody waits for the answers
	if o.twin.gpu != "" {
		return // it takes lines of its own
	}
	wrappers := seams.New()
	wrappers.Into(&o.engine)
	child.Parent(os.Stdin, func(line string) {
		if err := wrappers.Control(line); err != nil {
			fmt.Fprintln(os.Stderr, "llmtop:", err)
		}
	}, end)
}
