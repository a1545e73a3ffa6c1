package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"llmtop/probes"
)

var t0 = time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)

func at(second float64) time.Time { return t0.Add(time.Duration(math.Round(second * 1e9))) }

// attr is an attribute of any kind.
func attr(key string, value any) *commonpb.KeyValue {
	v := &commonpb.AnyValue{}
	switch x := value.(type) {
	case string:
		v.Value = &commonpb.AnyValue_StringValue{StringValue: x}
	case int:
		v.Value = &commonpb.AnyValue_IntValue{IntValue: int64(x)}
	case float64:
		v.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: x}
	case []string:
		list := &commonpb.ArrayValue{}
		for _, s := range x {
			list.Values = append(list.Values, attr("", s).Value)
		}
		v.Value = &commonpb.AnyValue_ArrayValue{ArrayValue: list}
	default:
		panic(fmt.Sprintf("attribute of type %T", value))
	}
	return &commonpb.KeyValue{Key: key, Value: v}
}

// attrs makes attributes of pairs.
func attrs(pairs ...any) (out []*commonpb.KeyValue) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, attr(pairs[i].(string), pairs[i+1]))
	}
	return out
}

// id makes an id of some bytes that ends in n.
func id(bytes, n int) []byte {
	if n == 0 {
		return nil
	}
	b := make([]byte, bytes)
	binary.BigEndian.PutUint32(b[bytes-4:], uint32(n))
	return b
}

// sp is a span of a trace, from and to in seconds after t0.
func sp(trace, id_, parent int, name string, from, to float64, a ...*commonpb.KeyValue) *tracepb.Span {
	return &tracepb.Span{TraceId: id(16, trace), SpanId: id(8, id_), ParentSpanId: id(8, parent), Name: name, Attributes: a,
		StartTimeUnixNano: uint64(at(from).UnixNano()), EndTimeUnixNano: uint64(at(to).UnixNano())}
}

// from is what one service sends.
func from(service string, spans ...*tracepb.Span) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: attrs("service.name", service)},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}},
	}}}
}

func bytesOf(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// jsonOf is a message as OTLP's JSON: ids in hexadecimal.
func jsonOf(t testing.TB, m *tracepb.TracesData) []byte {
	t.Helper()
	copied := proto.Clone(m).(*tracepb.TracesData)
	for _, rs := range copied.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				for _, id := range []*[]byte{&s.TraceId, &s.SpanId, &s.ParentSpanId} {
					if digits := hex.EncodeToString(*id); digits != "" {
						var err error
						if *id, err = base64.StdEncoding.DecodeString(digits); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	}
	b, err := protojson.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.HuffmanOnly)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// framed is a message of gRPC.
func framed(b []byte, compressed bool) []byte {
	prefix := make([]byte, prefixBytes)
	if compressed {
		b, prefix[0] = zipped(b), 1
	}
	binary.BigEndian.PutUint32(prefix[1:], uint32(len(b)))
	return append(prefix, b...)
}

// clock is a time that tests set.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// listening is a probe on a free port, at a time that the test sets.
func listening(t testing.TB, endpoints ...string) (*Probe, *clock) {
	t.Helper()
	c := &clock{at(0)}
	p := New(Options{Addr: "127.0.0.1:0", Endpoints: func() []string { return endpoints }, Now: c.Now})
	if err := p.Listening(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, c
}

// client speaks HTTP/1, or HTTP/2 without encryption.
func client(t testing.TB, h2 bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!h2)
	protocols.SetUnencryptedHTTP2(h2)
	transport := &http.Transport{Protocols: protocols, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// post sends a body and returns the status, the body of the answer and the answer.
func post(t testing.TB, c *http.Client, url string, body []byte, headers ...string) (int, string, *http.Response) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp
}

// overHTTP and overGRPC send an export and fail the test unless it is taken.
func overHTTP(t testing.TB, p *Probe, m *tracepb.TracesData) {
	t.Helper()
	if status, body, _ := post(t, client(t, false), "http://"+p.Addr()+"/v1/traces", bytesOf(t, m), "Content-Type", typeProto); status != 200 || body != "" {
		t.Fatalf("HTTP %d %q", status, body)
	}
}

func overGRPC(t testing.TB, p *Probe, m *tracepb.TracesData) {
	t.Helper()
	code, message, body := call(t, p, traceMethod, framed(bytesOf(t, m), true), "Grpc-Encoding", "gzip")
	if code != "0" || body != "\x00\x00\x00\x00\x00" {
		t.Fatalf("gRPC %s %s %q", code, message, body)
	}
}

const traceMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// call makes a call of gRPC.
func call(t testing.TB, p *Probe, method string, body []byte, headers ...string) (code, message, answer string) {
	t.Helper()
	headers = append([]string{"Content-Type", typeGRPC, "TE", "trailers"}, headers...)
	status, answer, resp := post(t, client(t, true), "http://"+p.Addr()+method, body, headers...)
	if status != 200 || resp.ProtoMajor != 2 || resp.Header.Get("Content-Type") != typeGRPC {
		t.Fatalf("HTTP %d over %s, %s", status, resp.Proto, resp.Header.Get("Content-Type"))
	}
	return resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message"), answer
}

// readSet reads and returns the sections by endpoint.
func readSet(t testing.TB, p *Probe) (map[string]*probes.Requests, error) {
	t.Helper()
	s, err := p.Read(t.Context())
	out := map[string]*probes.Requests{}
	if s == nil {
		return out, err
	}
	var sample probes.Sample
	s.AddTo(&sample)
	for _, r := range sample.Requests {
		if !r.FinishedOnly || out[r.Endpoint] != nil {
			t.Errorf("section of %s: %+v", r.Endpoint, r)
		}
		out[r.Endpoint] = r
	}
	return out, err
}
