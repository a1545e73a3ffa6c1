//go:build !linux

package probes

import (
	"context"
	"errors"
	"net"
)

func (n *namespace) dial(context.Context, string) (net.Conn, error) {
	return nil, &NamespaceError{n.String(), errors.New("only Linux has network namespaces")}
}
