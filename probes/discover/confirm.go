package discover

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"llmtop/probes"
)

// ask knocks at the doors of a candidate, all at once, and returns the engine behind
// them, if there is one: what can be read first, then what is known and why it cannot.
func (c *candidate) ask(ctx context.Context, o Options) []Found {
	if len(c.doors) == 0 {
		if c.engine == nil {
			return nil
		}
		return []Found{c.deaf()}
	}
	answers := make([]*Found, len(c.doors))
	var wait sync.WaitGroup
	for i, d := range c.doors {
		wait.Go(func() { answers[i] = c.knock(ctx, o, d) })
	}
	wait.Wait()
	var best *Found
	for _, f := range answers {
		if f != nil && (best == nil || better(f, best)) {
			best = f
		}
	}
	if best == nil {
		return nil
	}
	return []Found{*best}
}

func better(a, b *Found) bool { return a.Metrics && a.Missing == "" && !(b.Metrics && b.Missing == "") }

// knock asks at one door, by its addresses in turn. nil: nothing that is an engine's.
func (c *candidate) knock(ctx context.Context, o Options, d door) *Found {
	var f *Found
	for _, e := range d.endpoints {
		k := &visit{ctx: ctx, o: o, c: c, door: d, engine: c.engine}
		if c.engine != nil {
			k.access = o.Access(c.found(e, d.uid))
		}
		k.at(e)
		f = k.run()
		k.close()
		if !k.refused {
			return f
		}
	}
	return f
}

// found is what is known of a candidate before it is asked.
func (c *candidate) found(e probes.Endpoint, uid int) Found {
	f := Found{Endpoint: e, PID: c.pid, UID: uid, Also: c.also, Container: probes.Printable(c.container, 64), Model: probes.Printable(modelOf(c.argv), 200)}
	if c.engine != nil {
		f.Dialect, f.Title, f.ByCommand = c.engine.dialect, c.engine.title, !c.guessed
	}
	return f
}

// visit is the conversation at one address.
type visit struct {
	ctx       context.Context
	o         Options
	c         *candidate
	door      door
	engine    *engine // by command line, or by what it says
	access    probes.Access
	endpoint  probes.Endpoint
	transport *http.Transport

	refused  bool   // nothing listens there, or there is no way to it
	model    string // as it says
	build    int    // of llama.cpp, 0 when it does not say
	sleeping bool   // llama.cpp
	router   bool   // llama.cpp
	broken   bool   // it cuts off what speaks TLS
	codes    map[string]int
	generic  bool // there is a metrics page without an engine's metrics
}

func (k *visit) at(e probes.Endpoint) {
	k.close()
	k.endpoint, k.transport, k.codes = e, probes.NewTransport(e, k.access), map[string]int{}
}

func (k *visit) close() {
	if k.transport != nil {
		k.transport.CloseIdleConnections()
	}
}

// get asks for one page and takes note of what the answer says beside it.
func (k *visit) get(page string) (*probes.Page, error) {
	deadline, _ := k.ctx.Deadline()
	f := probes.NewFetcher(k.endpoint, page, probes.FetchOptions{
		Timeout: max(time.Until(deadline), time.Millisecond), MaxBytes: maxPage, Access: k.access, Transport: k.transport,
	})
	got, err := f.Get(k.ctx, nil)
	var status *probes.StatusError
	switch {
	case err == nil:
		k.codes[page] = http.StatusOK
		k.learn(got.Server)
	case errors.As(err, &status):
		k.codes[page] = status.Code
		k.learn(status.Server)
	}
	return got, err
}

// learn recognises llama.cpp by what it calls itself.
func (k *visit) learn(server string) {
	if k.engine == nil && strings.HasPrefix(server, "llama.cpp") {
		k.engine = byDialect("llamacpp")
	}
}

// byDialect is the first engine of a dialect, nil when there is none.
func byDialect(name string) *engine {
	for _, e := range engines() {
		if e.dialect == name {
			return &e
		}
	}
	return nil
}

// run asks for one page after the other until one says what this is.
func (k *visit) run() *Found {
	if k.asleep() {
		return k.unreadable(k.missing())
	}
	for _, page := range k.pages() {
		if page == probes.DefaultPage && (k.isTRTLLM() || k.o.Spared.has(k.endpoint, k.c.pid)) {
			continue
		}
		got, err := k.get(page)
		switch {
		case err == nil:
			if e := k.o.Recognise(got); e != nil {
				return k.readable(page, e, got)
			}
			switch probes.Describe("", got.Body) {
			case "JSON", "HTML", "binary data": // some front page
			default:
				k.generic = true
			}
			if page == probes.DefaultPage {
				k.o.Spared.note(k.endpoint, k.c.pid, got)
			}
		case errors.Is(err, probes.ErrTLS) || cut(err):
			if !k.endpoint.TLS() && k.endpoint.Socket() == "" {
				return k.encrypted(err)
			}
			return k.trouble(err)
		case !goesOn(err):
			return k.trouble(err)
		}
		if k.generic {
			break
		}
	}
	k.identify()
	if k.engine == nil {
		return nil
	}
	return k.unreadable(k.missing())
}

// goesOn reports an answer after which another page may be asked for.
func goesOn(err error) bool {
	var status *probes.StatusError
	return errors.As(err, &status) && !probes.Denied(err)
}

// cut reports a connection that was closed without an answer, which many servers of TLS
// do when plain HTTP is spoken to them.
func cut(err error) bool {
	return strings.HasSuffix(err.Error(), ": EOF") || strings.Contains(err.Error(), "reset by peer") || strings.Contains(err.Error(), "server closed idle connection")
}

// pages are the paths to ask for. Of a stranger the one that no other engine has comes
// first: it may be trtllm-serve, whose /metrics must not be read.
func (k *visit) pages() []string {
	switch {
	case k.engine == nil:
		return []string{"/prometheus/metrics", "/metrics", "/v1/metrics"}
	case len(k.engine.metrics) > 0 && !k.door.likely:
		return nil // the metrics have a port of their own
	case k.engine.pages != nil:
		return k.engine.pages
	}
	return probes.MetricsPages()
}

func (k *visit) isTRTLLM() bool { return k.engine != nil && k.engine.dialect == "trtllm" }

// asleep asks llama.cpp whether it sleeps, and whether it is a router. Before build 10519
// reading /metrics woke it; /slots does still, and is never asked for.
func (k *visit) asleep() bool {
	if k.engine == nil && k.door.port != 8080 || k.engine != nil && k.engine.dialect != "llamacpp" {
		return false
	}
	got, err := k.get("/props")
	if err != nil {
		return false
	}
	var props struct {
		Sleeping bool   `json:"is_sleeping"`
		Build    string `json:"build_info"`
		Role     string `json:"role"`
		Alias    string `json:"model_alias"`
		Path     string `json:"model_path"`
		Slots    int    `json:"total_slots"`
	}
	if json.Unmarshal(got.Body, &props) != nil || props.Build == "" && props.Slots == 0 && props.Role == "" {
		return false
	}
	k.engine = byDialect("llamacpp")
	build, _, _ := strings.Cut(strings.TrimPrefix(props.Build, "b"), "-")
	k.build, _ = strconv.Atoi(build)
	if k.model = props.Alias; k.model == "" && props.Path != "" {
		k.model = path.Base(props.Path)
	}
	k.sleeping, k.router = props.Sleeping && k.build < 10519, props.Role == "router"
	return k.sleeping || k.router
}

// identify asks who serves the models, when nothing else has told.
func (k *visit) identify() {
	if k.engine != nil && (k.model != "" || modelOf(k.c.argv) != "") || k.ctx.Err() != nil {
		return
	}
	got, err := k.get("/v1/models")
	if err != nil {
		return
	}
	var models struct {
		Data []struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(got.Body, &models) != nil || len(models.Data) == 0 {
		return
	}
	if k.engine == nil {
		k.engine = byOwner(models.Data[0].Owner)
	}
	k.model = models.Data[0].ID
}

// byOwner is the engine that calls itself the owner of its models.
func byOwner(name string) *engine {
	switch name = strings.ToLower(name); name {
	case "tensorrt_llm", "tensorrt-llm":
		name = "trtllm"
	case "llama.cpp":
		name = "llamacpp"
	}
	return byDialect(name)
}

// encrypted asks again by https. A server that cuts that off too may speak either: plain
// names it.
func (k *visit) encrypted(plain error) *Found {
	e := k.endpoint
	k.at(e.WithTLS())
	f := k.run()
	if k.broken {
		k.at(e)
		return k.trouble(plain)
	}
	return f
}

// readable is an engine whose metrics were read.
func (k *visit) readable(page string, e *probes.Engine, got *probes.Page) *Found {
	f := k.c.found(k.endpoint.WithPage(page), k.door.uid)
	f.Metrics, f.Dialect, f.start = true, e.Dialect, startTime(got.Body)
	if e.Model != "" {
		f.Model = probes.Printable(e.Model, 200)
	}
	if f.Title == "" {
		f.Title = titleOf(e.Dialect)
	}
	return &f
}

// unreadable is an engine whose metrics cannot be read, and why.
func (k *visit) unreadable(missing, next string) *Found {
	f := k.c.found(k.endpoint, k.door.uid)
	f.Dialect, f.Title, f.Missing, f.Next = k.engine.dialect, k.engine.title, missing, next
	if k.isTRTLLM() {
		f.Endpoint = f.Endpoint.WithPage(trtllmPages[0])
	}
	if k.model != "" {
		f.Model = probes.Printable(k.model, 200)
	}
	f.Metrics = k.generic && k.engine.dialect != "vllm" // its series come with the first request
	if f.Metrics {
		f.Missing, f.Next = "", ""
	}
	return &f
}

// trouble is an engine by its command line that did not answer as one; nil for a stranger.
func (k *visit) trouble(err error) *Found {
	k.refused = errors.Is(err, syscall.ECONNREFUSED) || probes.Unreachable(err)
	k.broken = cut(err) || errors.Is(err, probes.ErrNoTLS)
	if k.engine == nil {
		return nil
	}
	f := k.unreadable(k.reason(err))
	if errors.Is(err, context.DeadlineExceeded) {
		f.Metrics = k.c.engine != nil && !k.c.engine.worker && k.door.likely // a busy engine answers late
		if page := k.pages(); len(page) > 0 {
			f.Endpoint = k.endpoint.WithPage(page[0])
		}
	}
	return f
}

func titleOf(dialect string) string {
	if e := byDialect(dialect); e != nil {
		return e.title
	}
	return probes.Printable(dialect, 40)
}

// startTime is the process's start as a page tells it, "" when it does not.
func startTime(page []byte) string {
	const name = "\nprocess_start_time_seconds "
	i := strings.Index(string(page), name)
	if i < 0 {
		return ""
	}
	value, _, _ := strings.Cut(string(page[i+len(name):min(len(page), i+len(name)+40)]), "\n")
	return strings.TrimSpace(value)
}
