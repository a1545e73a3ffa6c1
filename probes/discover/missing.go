package discover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"llmtop/probes"
)

// place is where an engine listens, in few words: ":8000", "/run/vllm.sock".
func place(e probes.Endpoint) string {
	if e.Socket() != "" {
		return e.Socket()
	}
	host, port, err := net.SplitHostPort(e.Host())
	if err != nil {
		return e.String()
	}
	text := ":" + port
	if host != "127.0.0.1" && host != "::1" {
		text = net.JoinHostPort(host, port)
	}
	if e.Elsewhere() {
		text += " of another network namespace"
	}
	return text
}

// missing says what keeps an engine that answers from being read, and what to do.
func (k *visit) missing() (missing, next string) {
	who := fmt.Sprintf("%s on %s", k.engine.title, place(k.endpoint))
	argv := k.c.argv
	switch dialect := k.engine.dialect; {
	case k.router:
		return who + " is a router, which tells metrics only of a model that is named (?model=)", "name one of its servers: llmtop http://HOST:PORT"
	case k.sleeping:
		return fmt.Sprintf("%s is asleep, and reading the metrics of build %d would wake it", who, k.build), "send it a request, or update it to b10519 or later"
	case dialect == "vllm" && k.generic:
		if has(argv, "--disable-log-stats") {
			return who + " runs with --disable-log-stats: its page has no metrics of the engine", "start it without"
		}
		return who + " has none of the engine's metrics on its page", "start it without --disable-log-stats"
	case dialect == "sglang":
		return who + " does not expose metrics", "start it with --enable-metrics"
	case dialect == "llamacpp":
		return who + " does not expose metrics", "start it with --metrics"
	case dialect == "trtllm":
		return who + " has no /prometheus/metrics", "set return_perf_metrics: true in its configuration"
	case dialect == "lmdeploy":
		if has(argv, "--disable-metrics") {
			return who + " does not expose metrics", "start it without --disable-metrics"
		}
		return who + " does not expose metrics", "start it with --enable-metrics, or newer, without --disable-metrics"
	case dialect == "triton":
		return fmt.Sprintf("%s has no metrics on :%d", who, k.engine.metricsPort(argv)), "start it without --allow-metrics=false, and name another port: llmtop http://HOST:PORT"
	case dialect == "dynamo" && k.engine.worker:
		return workerMissing(k.c.pid), workerNext
	}
	return fmt.Sprintf("%s has no metrics page%s", who, k.answered()), "name the page, if it has one elsewhere: llmtop http://HOST:PORT/PATH/metrics"
}

const workerNext = "start it with DYN_SYSTEM_PORT=8081"

func workerMissing(pid int) string {
	return fmt.Sprintf("Dynamo worker, pid %d, exposes no metrics", pid)
}

// answered is what /metrics answered, in parentheses.
func (k *visit) answered() string {
	code, ok := k.codes[probes.DefaultPage]
	if !ok || code == http.StatusOK {
		return ""
	}
	return fmt.Sprintf(" (%d %s)", code, http.StatusText(code))
}

// reason says why an engine did not answer, and what to do.
func (k *visit) reason(err error) (missing, next string) {
	who := fmt.Sprintf("%s on %s", k.engine.title, place(k.endpoint))
	switch {
	case k.c.engine != nil && k.c.engine.worker:
		return workerMissing(k.c.pid), workerNext
	case probes.Denied(err):
		text := says(err)
		i := max(strings.LastIndex(text, "; "), 0) // what the server said stands before it
		return fmt.Sprintf("%s: %s", who, text[:i]), strings.TrimPrefix(text[i:], "; ")
	case errors.Is(err, probes.ErrUntrusted):
		return who + " speaks TLS with a certificate that is not trusted for this address",
			"name it as its certificate does, with --ca FILE if need be, or do not check it with --insecure"
	case errors.Is(err, probes.ErrEnter):
		return who, probes.ErrEnter.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return who + " has not answered yet", "wait, or look whether it hangs"
	}
	return fmt.Sprintf("%s: %s", who, says(err)), ""
}

// says is the error of a page without its address.
func says(err error) string {
	_, text, _ := strings.Cut(err.Error(), ": ")
	return text
}

// deaf is an engine's process that listens nowhere, as far as can be seen.
func (c *candidate) deaf() Found {
	f := c.found(probes.Endpoint{}, c.uid)
	switch {
	case c.engine.worker:
		f.Missing, f.Next = workerMissing(c.pid), workerNext
	case c.guessed:
		f.Missing, f.Next = fmt.Sprintf("%s, pid %d, is another user's: where it listens is not to be seen", c.engine.shown, c.pid), "be root, or name it: llmtop http://HOST:PORT"
	default:
		f.Starting = true
		f.Missing, f.Next = fmt.Sprintf("%s, pid %d, does not listen yet", c.engine.shown, c.pid), "it may be loading its model: wait"
	}
	return f
}

// elsewhere is an engine in a network namespace that this user may not enter.
func elsewhere(e *engine, l probes.Listener) Found {
	f := (&candidate{engine: e, argv: l.Argv, pid: l.PID, uid: l.UID, container: l.Container, guessed: l.Hidden}).found(probes.Endpoint{}, l.UID)
	where := "listens"
	if l.Addr.IsValid() {
		where = "listens on :" + strconv.Itoa(int(l.Addr.Port()))
	}
	container := ""
	if f.Container != "" {
		container = fmt.Sprintf(" (container %s)", f.Container)
	}
	f.Missing = fmt.Sprintf("%s, pid %d, %s in another network namespace%s", e.shown, l.PID, where, container)
	f.Next = "entering it needs root"
	return f
}
