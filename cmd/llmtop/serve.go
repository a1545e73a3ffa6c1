package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/demo"
	"llmtop/engine"
	"llmtop/probes/host"
)

type serveOptions struct {
	addr       string
	modelPath  string
	withParent bool
	engine     engine.Config
	scheduler  schedulerFlags
}

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run llmtop's own serving engine (OpenAI API, vLLM's metrics)",
		Long: `Serves a Llama-family GGUF model on the CPU with continuous batching and a paged KV
cache: /v1/chat/completions, /v1/completions, /v1/models, /health, /metrics under
vLLM's names, /debug/requests and /debug/pprof. Without --model it serves the small
model that is built in. An API key is taken from ` + apiKeyVariable + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:8000", "`address` to listen on; port 0 picks a free one")
	f.StringVar(&o.modelPath, "model", "", "GGUF `file` to serve")
	o.scheduler.add(cmd, &o.engine)
	f.StringVar(&o.engine.KVCacheType, "kv-cache-dtype", "f32", "keep keys and values as `type` f32 or int8: more blocks in the same memory")
	f.StringVar(&o.engine.Speculative, "speculative", "", "guess tokens by `method` ngram or draft: other speed, same answers (default: no guesses)")
	f.StringVar(&o.engine.DraftModelPath, "draft-model", "", "GGUF `file` of the draft model; "+engine.RandomDraft+": one that guesses wrong (default: the built-in one)")
	f.IntVar(&o.engine.NumSpeculativeTokens, "num-speculative-tokens", 0, "guesses for a sequence in a step (0: default)")
	f.IntVar(&o.engine.Threads, "threads", 0, "threads of the forward pass (0: all cores)")
	f.IntVar(&o.engine.TokenizerThreads, "tokenizer-threads", 0, "most texts tokenized at once (0: all cores)")
	f.StringVar(&o.engine.TokenizerCache, "tokenizer-cache", engine.On, "`on`, or off: read the vocabulary from the file for every request")
	f.StringVar(&o.engine.Assemble, "assemble", engine.Precompiled, "how chats become prompts: `precompiled`, or naive: anew for each message")
	f.BoolVar(&o.withParent, "with-parent", false, "end with the parent process")
	f.MarkHidden("with-parent")
	return cmd
}

func runServe(cmd *cobra.Command, o serveOptions) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	o.configure(cancel)
	e, err := engine.New(o.engine)
	if err != nil {
		return failed(err, "")
	}
	for _, w := range e.Warnings() {
		fmt.Fprintln(cmd.ErrOrStderr(), "llmtop: warning:", w)
	}
	keepWithin(e.Budget().Limit)
	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return failed(fmt.Errorf("listening on %s: %w", o.addr, err), "choose another address with --addr")
	}
	writeBudget(cmd.OutOrStdout(), e.Budget())
	fmt.Fprintf(cmd.OutOrStdout(), "serving %s on http://%s (ctrl-c ends it)\n", cmp.Or(o.engine.ModelName, "the built-in model"), listener.Addr())
	return serveUntil(ctx, e, listener)
}

// newServer bounds what a connection costs before and between requests; the engine
// bounds bodies and writes itself, since a stream may take as long as it likes.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// serveUntil runs the engine and its HTTP server until ctx ends or one of them fails.
func serveUntil(ctx context.Context, e *engine.Engine, listener net.Listener) error {
	server := newServer(e.Handler())
	ended := make(chan error, 2)
	loop, stop := context.WithCancel(ctx)
	defer stop()
	go func() { ended <- e.Run(loop) }()
	go func() { ended <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		server.Shutdown(grace)
		server.Close()
		return nil
	case err := <-ended:
		server.Close()
		if err != nil && !errors.Is(err, context.Canceled) {
			return failed(err, "")
		}
		return nil
	}
}

// configure fills the engine's configuration; as a child of the demo it also takes
// control lines for the wrapper at the tokenizer seam.
func (o *serveOptions) configure(end func()) {
	o.engine.APIKey = apiKey()
	o.scheduler.configure(&o.engine)
	o.engine.ModelPath = o.modelPath
	o.engine.MemoryBytes = host.MemoryLimit("/")
	if o.modelPath != "" {
		o.engine.ModelName = strings.TrimSuffix(filepath.Base(o.modelPath), ".gguf")
	}
	if !o.withParent {
		return
	}
	slow := &demo.SlowTokenizer{}
	o.engine.WrapTokenizer = slow.Wrap
	demo.Parent(os.Stdin, slow.Control, end)
}
