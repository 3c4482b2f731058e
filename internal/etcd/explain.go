// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"net"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcd-operator/etcd-operator/internal/outside"
)

// explain makes a sentence of what etcd or the connection to it reported.
func explain(err error) string {
	switch known := rpctypes.Error(err); {
	case errors.Is(known, rpctypes.ErrUserEmpty), errors.Is(known, rpctypes.ErrUserNotFound), isTokenRefused(err):
		return "etcd asks for a user; put username and password into a secret and name it in etcdAuthSecret"
	case errors.Is(known, rpctypes.ErrAuthFailed):
		return "etcd does not accept the username and password of etcdAuthSecret"
	case errors.Is(known, rpctypes.ErrPermissionDenied):
		return "etcd gives snapshots only to users with the role root; grant it to the user of etcdAuthSecret"
	case errors.Is(err, context.DeadlineExceeded), status.Code(err) == codes.DeadlineExceeded:
		return "it does not answer"
	}
	if refused := outside.IsRefused(err); refused != nil {
		return refused.Error()
	}
	var unknown *net.DNSError
	if errors.As(err, &unknown) && unknown.IsNotFound {
		return "the name " + outside.Text(unknown.Name) + " cannot be resolved"
	}
	text := err.Error()
	if s, ok := status.FromError(err); ok {
		text = s.Message()
	}
	switch {
	case strings.Contains(text, "connection refused"):
		return "connection refused"
	case strings.Contains(text, "no such host"), strings.Contains(text, "produced zero addresses"):
		return "its name cannot be resolved"
	case strings.Contains(text, "certificate required"), strings.Contains(text, "bad certificate"):
		return "it asks for a client certificate; name a secret with one in clientTLSSecret"
	case strings.Contains(text, "unknown authority"):
		return "its certificate is signed by an unknown authority; put that into the secret of clientTLSSecret"
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return "it does not speak TLS; use http:// in etcdEndpoints"
	case strings.Contains(text, "error reading server preface"):
		return "it does not speak etcd's protocol here; where it uses TLS, use https:// in etcdEndpoints"
	}
	return outside.Text(text)
}
