package otlp

import (
	"net"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"llmtop/probes"
)

// service is who sent spans, by the attributes of their resource.
type service struct {
	name     string
	instance string // often host:port, or an address
	host     string
	port     string
}

const (
	maxServiceName = 60
	otherEndpoint  = "otlp:other"
)

func serviceOf(list []*commonpb.KeyValue) *service {
	s := &service{}
	for _, kv := range list[:min(len(list), maxAttributes)] {
		value := text(kv.GetValue())
		switch kv.GetKey() {
		case "service.name":
			s.name = probes.Printable(value, maxServiceName)
		case "service.instance.id":
			s.instance = value
		case "server.address":
			s.host = value
		case "host", "host.name":
			if s.host == "" {
				s.host = value
			}
		case "server.port", "port":
			if n, ok := numberOf(kv.GetValue()); ok && n > 0 && n < 1<<16 {
				s.port = strconv.Itoa(int(n))
			}
		}
	}
	return s
}

// endpoint is where a service belongs: to the one engine that is attached, to the one
// of several that it names, else to an endpoint of its own.
func (s *service) endpoint(attached []string) string {
	if len(attached) == 1 {
		return attached[0]
	}
	for _, named := range []string{s.instance, net.JoinHostPort(s.host, s.port), s.host} {
		if end, ok := theOne(named, attached); ok {
			return end
		}
	}
	if s.name == "" {
		return "otlp:unknown"
	}
	return "otlp:" + s.name
}

// theOne finds the one engine that a name stands for: its address, its host and port,
// or its host where no other engine is on that.
func theOne(name string, attached []string) (found string, ok bool) {
	name = strings.TrimSuffix(name, "/")
	if name == "" {
		return "", false
	}
	hosts := 0
	for _, end := range attached {
		e, err := probes.ParseEndpoint(end)
		if err != nil {
			continue
		}
		host, _, _ := net.SplitHostPort(e.Host())
		switch {
		case name == end || name == e.Host():
			return end, true
		case name == host:
			found, hosts = end, hosts+1
		}
	}
	return found, hosts == 1
}
