// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/metadata"
)

// session is a connection on which a user is logged in, where etcd asks for one.
type session struct {
	conn               Conn
	username, password string

	mu    sync.Mutex
	token string
}

// do makes a call with the user's token. A token that has expired is replaced once: a simple one lives for
// five minutes after its last use, and a snapshot may take longer.
func (s *session) do(ctx context.Context, call func(context.Context) error) error {
	err := call(s.withToken(ctx))
	if s.username == "" || !isTokenRefused(err) {
		return err
	}
	if err := s.login(ctx); err != nil {
		return err
	}
	return call(s.withToken(ctx))
}

// login gets a token. An etcd whose authentication is off gives none and needs none.
func (s *session) login(ctx context.Context) error {
	if s.username == "" {
		return nil
	}
	r, err := pb.NewAuthClient(s.conn).Authenticate(ctx, &pb.AuthenticateRequest{Name: s.username, Password: s.password})
	if errors.Is(rpctypes.Error(err), rpctypes.ErrAuthNotEnabled) {
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = r.Token
	return nil
}

func (s *session) withToken(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, s.token)
}

// isTokenRefused reports whether etcd asks for another token.
func isTokenRefused(err error) bool {
	known := rpctypes.Error(err)
	return errors.Is(known, rpctypes.ErrInvalidAuthToken) || errors.Is(known, rpctypes.ErrAuthOldRevision)
}
