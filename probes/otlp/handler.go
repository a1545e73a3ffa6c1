package otlp

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// handler takes exports. It says no in words of its own: nothing of what was sent is
// repeated, or kept.
type handler struct {
	take    func([]batch)
	refused func(why string)
	atOnce  atomic.Int32
	build   sync.Mutex // one message at a time: it may take many times its bytes
}

// signal is what an export is of. Exporters that are told one address for all send
// metrics and logs too; those are taken and thrown away, so that they need not complain.
type signal uint8

const (
	noSignal signal = iota
	traces
	others
)

var paths = map[string]signal{
	"/v1/traces": traces, "/v1/metrics": others, "/v1/logs": others, "/v1development/profiles": others,
}

// refusal is why an export is not taken, and how that is said in HTTP and in gRPC.
type refusal struct {
	status int
	code   grpcCode
	why    string
}

func (r *refusal) Error() string { return r.why }

var (
	refusedPath     = &refusal{http.StatusNotFound, unimplemented, "no such path; traces go to /v1/traces"}
	refusedMethod   = &refusal{http.StatusMethodNotAllowed, unimplemented, "only POST is taken"}
	refusedType     = &refusal{http.StatusUnsupportedMediaType, invalidArgument, "content type is neither application/x-protobuf nor application/json"}
	refusedCoding   = &refusal{http.StatusUnsupportedMediaType, unimplemented, "content encoding is not gzip"}
	refusedSize     = &refusal{http.StatusRequestEntityTooLarge, invalidArgument, "over 4 MiB"}
	refusedMany     = &refusal{http.StatusRequestEntityTooLarge, invalidArgument, errTooMany.Error()}
	refusedDeep     = &refusal{http.StatusBadRequest, invalidArgument, errTooDeep.Error()}
	refusedMessage  = &refusal{http.StatusBadRequest, invalidArgument, errMalformed.Error()}
	refusedBusy     = &refusal{http.StatusServiceUnavailable, unavailable, "too many at once"}
	refusedCutOff   = &refusal{http.StatusBadRequest, invalidArgument, "cut off"}
	refusedInternal = &refusal{http.StatusInternalServerError, internal, "internal error"}
)

// refusalOf finds how an error is said.
func refusalOf(err error) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, errTooMany):
		return refusedMany
	case errors.Is(err, errTooDeep):
		return refusedDeep
	}
	return refusedMessage
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isGRPC(r) {
		h.serveGRPC(w, r)
		return
	}
	contentType, err := h.export(r)
	if err != nil {
		no := h.refuse(err)
		if no == refusedMethod {
			w.Header().Set("Allow", http.MethodPost)
		}
		if no == refusedBusy {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, no.why, no.status)
		return
	}
	w.Header().Set("Content-Type", contentType)
	if contentType == typeJSON {
		io.WriteString(w, "{}")
	}
}

// refuse counts a refusal.
func (h *handler) refuse(err error) *refusal {
	no := refusalOf(err)
	h.refused(no.why)
	return no
}

const (
	typeProto = "application/x-protobuf"
	typeJSON  = "application/json"
)

// export takes one request; the content type is that of the answer.
func (h *handler) export(r *http.Request) (contentType string, err error) {
	what := paths[r.URL.Path]
	switch {
	case what == noSignal:
		return "", refusedPath
	case r.Method != http.MethodPost:
		return "", refusedMethod
	}
	contentType, _, _ = mime.ParseMediaType(r.Header.Get("Content-Type"))
	if contentType == "application/protobuf" {
		contentType = typeProto
	}
	if contentType != typeProto && contentType != typeJSON {
		return "", refusedType
	}
	if what == others {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxBody))
		return contentType, nil
	}
	if err := h.enter(); err != nil {
		return "", err
	}
	defer h.leave()
	body, err := read(r.Body, r.Header.Get("Content-Encoding"))
	if err != nil {
		return "", err
	}
	return contentType, h.message(body, contentType)
}

// enter and leave bound how many exports are read at once.
func (h *handler) enter() error {
	if h.atOnce.Add(1) > maxAtOnce {
		h.atOnce.Add(-1)
		return refusedBusy
	}
	return nil
}

func (h *handler) leave() { h.atOnce.Add(-1) }

// message decodes the body of an export and hands its spans on. A panic in what is
// foreign to us is an error.
func (h *handler) message(body []byte, contentType string) (err error) {
	defer func() {
		if recover() != nil {
			err = refusedInternal
		}
	}()
	h.build.Lock()
	defer h.build.Unlock()
	decode := decodeProto
	if contentType == typeJSON {
		decode = decodeJSON
	}
	got, err := decode(body)
	if err != nil {
		return err
	}
	h.take(got)
	return nil
}

// read is a body of at most maxBody, decompressed.
func read(body io.Reader, coding string) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(body, maxBody))
		if err != nil {
			return nil, refusedMessage
		}
		body = z
	default:
		return nil, refusedCoding
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(body, maxBody+1)); err != nil {
		return nil, refusedCutOff
	}
	if b.Len() > maxBody {
		return nil, refusedSize
	}
	return b.Bytes(), nil
}
