package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/otlp"
)

// otlpAddress is the value of --otlp. What is no host and port is refused at once.
type otlpAddress string

func (a *otlpAddress) String() string { return string(*a) }
func (a *otlpAddress) Type() string   { return "addr" }

func (a *otlpAddress) Set(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("must be host:port, such as 127.0.0.1:4318")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("the port must be a number from 1 to 65535")
	}
	*a = otlpAddress(s)
	return nil
}

// otlpFlag adds --otlp.
func (o *attachOptions) otlpFlag(cmd *cobra.Command) {
	cmd.Flags().Var((*otlpAddress)(&o.otlp), "otlp", "receive the engine's traces (OTLP over HTTP and gRPC) on this `address`, such as 127.0.0.1:4318, for the stages of requests")
	o.stderr = cmd.ErrOrStderr
}

// otlpProbes is the receiver of traces, when one is wanted. It listens from here on, so
// that a port that is taken is said before the screen starts; the rest goes on without it.
func (o *attachOptions) otlpProbes(engines func() []string) []probes.Scheduled {
	if o.otlp == "" {
		return nil
	}
	p := otlp.New(otlp.Options{Addr: o.otlp, Endpoints: engines})
	if err := p.Listening(); err != nil {
		o.warn("--otlp: %v; everything else goes on, and it is tried again", err)
	} else if open := openTo(p.Addr()); open != "" {
		o.warn("--otlp %s", open)
	}
	return []probes.Scheduled{{Probe: p, Every: o.interval}}
}

// warn says something in one line before the screen starts.
func (o *attachOptions) warn(format string, a ...any) {
	if o.stderr != nil {
		fmt.Fprintf(o.stderr(), "llmtop: %s\n", oneLine(fmt.Sprintf(format, a...)))
	}
}

// openTo is a warning about an address that others can reach; empty for loopback.
func openTo(addr string) string {
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil || a.IP.IsLoopback() {
		return ""
	}
	return addr + " is open to the network: whoever reaches it can send traces, and no key is asked for"
}
