package otlp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// grpcCode is a status of gRPC, by its number.
type grpcCode int

const (
	okCode          grpcCode = 0
	invalidArgument grpcCode = 3
	unimplemented   grpcCode = 12
	internal        grpcCode = 13
	unavailable     grpcCode = 14
)

const typeGRPC = "application/grpc"

// methods are the calls that exporters make.
var methods = map[string]signal{
	"/opentelemetry.proto.collector.trace.v1.TraceService/Export":                  traces,
	"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export":              others,
	"/opentelemetry.proto.collector.logs.v1.LogsService/Export":                    others,
	"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export": others,
}

func isGRPC(r *http.Request) bool {
	contentType := r.Header.Get("Content-Type")
	return contentType == typeGRPC || strings.HasPrefix(contentType, typeGRPC+"+") || strings.HasPrefix(contentType, typeGRPC+";")
}

// serveGRPC answers one call: the HTTP status is always 200, gRPC's stands in a trailer.
func (h *handler) serveGRPC(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 2 {
		http.Error(w, h.refuse(refusedType).why, refusedType.status)
		return
	}
	err := h.call(r)
	header := w.Header()
	header.Set("Content-Type", typeGRPC)
	header.Set("Grpc-Accept-Encoding", "identity,gzip")
	header.Set("Trailer", "Grpc-Status, Grpc-Message")
	w.WriteHeader(http.StatusOK) // what is set from here on is sent as trailers
	code := okCode
	if err == nil {
		w.Write(make([]byte, prefixBytes)) // an empty message
	} else {
		no := h.refuse(err)
		code = no.code
		header.Set("Grpc-Message", no.why)
	}
	header.Set("Grpc-Status", strconv.Itoa(int(code)))
}

// call takes the one message of a call.
func (h *handler) call(r *http.Request) error {
	what := methods[r.URL.Path]
	switch {
	case what == noSignal:
		return refusedPath
	case r.Method != http.MethodPost:
		return refusedMethod
	case what == others:
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxBody+prefixBytes))
		return nil
	}
	if err := h.enter(); err != nil {
		return err
	}
	defer h.leave()
	body, err := unframe(r.Body, r.Header.Get("Grpc-Encoding"))
	if err != nil {
		return err
	}
	return h.message(body, typeProto)
}

// prefixBytes stand before each message: a flag, 1 for compressed, and four bytes of length.
const prefixBytes = 5

// unframe reads the one message of a call, which nothing may follow.
func unframe(r io.Reader, coding string) ([]byte, error) {
	var prefix [prefixBytes]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, refusedCutOff
	}
	length := binary.BigEndian.Uint32(prefix[1:])
	switch {
	case length > maxBody:
		return nil, refusedSize
	case prefix[0] > 1:
		return nil, refusedMessage
	case prefix[0] == 0:
		coding = ""
	case coding != "gzip":
		return nil, refusedCoding
	}
	message := &bytes.Buffer{} // grows with what comes, not with what is promised
	if n, err := io.CopyN(message, r, int64(length)); err != nil || n < int64(length) {
		return nil, refusedCutOff
	}
	if _, err := io.ReadFull(r, prefix[:1]); !errors.Is(err, io.EOF) {
		return nil, refusedMessage
	}
	return read(message, coding)
}
