package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves the OpenAI API under /v1 and the engine's own state beside it.
// Only /v1 asks for the API key, as with vLLM: bind to an address that only those
// may reach who may see lengths and times.
func (e *Engine) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []struct {
		pattern string
		handler http.Handler
	}{
		{"POST /v1/chat/completions", e.generate("chatcmpl-", parseChat)},
		{"POST /v1/completions", e.generate("cmpl-", parseCompletion)},
		{"GET /v1/models", http.HandlerFunc(e.serveModels)},
		{"GET /v1/models/{model}", http.HandlerFunc(e.serveModel)},
		{"GET /health", health(e.ready)}, // as vLLM's: may requests come?
		{"GET /health/ready", health(e.ready)},
		{"GET /health/live", health(e.live)},
		{"GET /version", http.HandlerFunc(serveVersion)},
		{"GET /metrics", promhttp.HandlerFor(e.metrics.registry, promhttp.HandlerOpts{})},
		{"GET /debug/requests", http.HandlerFunc(e.serveRequests)},
	} {
		_, path, _ := strings.Cut(route.pattern, " ")
		mux.Handle(route.pattern, e.counted(path, route.handler))
		mux.Handle(path, e.counted(path, wrongMethod(route.pattern)))
	}
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/", e.counted("none", http.HandlerFunc(noSuchPath)))
	return mux
}

func wrongMethod(pattern string) http.Handler {
	method, path, _ := strings.Cut(pattern, " ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", method)
		(&apiError{
			status: http.StatusMethodNotAllowed, kind: "invalid_request_error", code: "method_not_allowed",
			message: path + " takes " + method + " only",
		}).write(w)
	})
}

func noSuchPath(w http.ResponseWriter, r *http.Request) {
	(&apiError{status: http.StatusNotFound, kind: "invalid_request_error", code: "unknown_url", message: "there is no such path"}).write(w)
}

// authorize checks the key and the model's name; a request without a name means the one model there is.
func (e *Engine) authorize(r *http.Request, model string) error {
	if e.config.APIKey != "" && !sameSecret(bearer(r), e.config.APIKey) {
		return &apiError{
			status: http.StatusUnauthorized, kind: "authentication_error", code: "invalid_api_key",
			message: "a valid API key is needed: Authorization: Bearer KEY",
		}
	}
	if model != "" && model != e.config.ModelName {
		return &apiError{
			status: http.StatusNotFound, kind: "not_found_error", code: "model_not_found", param: "model",
			message: fmt.Sprintf("there is no such model here; this engine serves %q", e.config.ModelName),
		}
	}
	return nil
}

// bearer is the key that a request brings; empty: none. The scheme's case does not matter (RFC 9110).
func bearer(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return key
}

// sameSecret takes the same time wherever the two differ, and whatever their lengths.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// tooMany refuses a request because the queue is full for its class.
func (e *Engine) tooMany(c Class) error {
	return &apiError{
		status: http.StatusTooManyRequests, kind: "rate_limit_error", code: "queue_full",
		message:    fmt.Sprintf("the queue is full (%d requests of class %s are waiting); try again later", e.config.MaxQueue, c),
		retryAfter: e.queue.retryAfter(c),
	}
}

type modelCard struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	MaxModelLen int    `json:"max_model_len"`
}

func (e *Engine) card() modelCard {
	return modelCard{e.config.ModelName, "model", e.started.Unix(), "llmtop", e.shape.Context}
}

func (e *Engine) serveModels(w http.ResponseWriter, r *http.Request) {
	if err := e.authorize(r, ""); err != nil {
		toAPI(err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []modelCard{e.card()}})
}

func (e *Engine) serveModel(w http.ResponseWriter, r *http.Request) {
	if err := e.authorize(r, r.PathValue("model")); err != nil {
		toAPI(err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, e.card())
}

// health answers 200, or 503 with what is wrong.
func health(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := check(); err != nil {
			unavailable(err.Error()).write(w)
			return
		}
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}
}

// writeJSON sends v as the whole answer.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(append(b, '\n'))
	return err
}

// newID is a random name for an answer.
func newID() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
