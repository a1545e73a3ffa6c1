package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Bounds of one export.
const (
	maxBody     = 4 << 20 // bytes, after decompression: gRPC's own default
	maxSpans    = 16384
	maxMessages = 1 << 18 // parts of any kind; at 4 MiB of the smallest ones they would take a hundred times that
	maxDepth    = 24      // a plain attribute lies at 6, each list in one two deeper
	maxName     = 128     // bytes of a span's name that are looked at
)

var (
	errMalformed = errors.New("not an OTLP message")
	errTooMany   = errors.New("too many spans or attributes")
	errTooDeep   = errors.New("nested too deep")
)

// decodeProto reads an ExportTraceServiceRequest, whose bytes are those of a TracesData.
func decodeProto(body []byte) ([]batch, error) {
	data := &tracepb.TracesData{}
	left := maxMessages
	if err := countProto(body, data.ProtoReflect().Descriptor(), maxDepth, &left); err != nil {
		return nil, err
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: 2 * maxDepth}).Unmarshal(body, data); err != nil {
		return nil, errMalformed
	}
	return batches(data)
}

// decodeJSON reads the same as JSON, in which OTLP writes ids in hexadecimal.
func decodeJSON(body []byte) ([]batch, error) {
	if err := countJSON(body, maxDepth*2, maxMessages); err != nil {
		return nil, err
	}
	data := &tracepb.TracesData{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: 4 * maxDepth}).Unmarshal(body, data); err != nil {
		return nil, errMalformed
	}
	return batches(data)
}

// batches are the spans of each resource that mean something.
func batches(data *tracepb.TracesData) (out []batch, err error) {
	count := 0
	for _, rs := range data.GetResourceSpans() {
		b := batch{service: serviceOf(rs.GetResource().GetAttributes())}
		for _, ss := range rs.GetScopeSpans() {
			if count += len(ss.GetSpans()); count > maxSpans {
				return nil, errTooMany
			}
			for _, p := range ss.GetSpans() {
				if s, ok := spanOf(p); ok {
					b.spans = append(b.spans, s)
				}
			}
		}
		if len(b.spans) > 0 {
			out = append(out, b)
		}
	}
	return out, nil
}

// spanOf is false for a span that is of no use.
func spanOf(p *tracepb.Span) (s span, ok bool) {
	if len(p.GetName()) > maxName || p.GetStartTimeUnixNano() > math.MaxInt64 || p.GetEndTimeUnixNano() > math.MaxInt64 {
		return s, false
	}
	if !idOf(s.trace[:], p.GetTraceId()) || !idOf(s.id[:], p.GetSpanId()) {
		return s, false
	}
	idOf(s.parent[:], p.GetParentSpanId())
	s.start, s.end = int64(p.GetStartTimeUnixNano()), int64(p.GetEndTimeUnixNano())
	s.failed = p.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR
	s.facts = factsOf(p.GetAttributes())
	s.recognize(p.GetName())
	return s, s.role != ignored
}

// idOf fills an id. JSON's hexadecimal digits were taken for base64 and are had back by
// writing them as that.
func idOf(to, from []byte) bool {
	switch len(from) {
	case len(to):
		copy(to, from)
		return true
	case len(to) * 2 * 3 / 4:
		digits := base64.StdEncoding.EncodeToString(from)
		n, err := hex.Decode(to, []byte(digits))
		return err == nil && n == len(to)
	}
	return false
}
