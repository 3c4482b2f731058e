// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plain makes of an error of gRPC one that says in a sentence what the connection met.
func plain(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	if s.Code() == codes.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	text := s.Message()
	if strings.Contains(text, "forbidden") {
		text = `you may not create "pods/portforward", which the role "edit" may`
	}
	for _, noise := range []string{`connection error: desc = "`, "transport: Error while dialing: ", "transport: authentication handshake failed: "} {
		text = strings.ReplaceAll(text, noise, "")
	}
	return errors.New(strings.TrimSuffix(text, `"`))
}
