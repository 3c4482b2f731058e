// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package servicename knows what the short names of Services mean that a user writes into an object. They are those of
// the object's namespace. An operator in another namespace would look beside itself for them, and may find there
// something else of the same name.
package servicename

import (
	"context"
	"errors"
	"net"
	"strings"
)

// Lookup gives the addresses of a host.
type Lookup func(ctx context.Context, host string) ([]string, error)

// Within is the name of a host as an operator of another namespace has to write it. Nothing is changed where the
// namespace is empty, which is that of an operator that serves its own only.
//
//   - A name of one label is a Service of the namespace.
//   - A name of two may be a member of a Service of the namespace, or a Service with its namespace, or neither. They are
//     looked for in this order, which is that of a pod in the namespace. Where it is neither, the dot at the end of the
//     result keeps the resolver from looking beside the operator.
//   - Longer names are the same everywhere.
func Within(ctx context.Context, lookup Lookup, namespace, host string) string {
	labels := strings.Count(host, ".") + 1
	if namespace == "" || host == "" || host == "localhost" || strings.HasSuffix(host, ".") || labels > 2 || net.ParseIP(host) != nil {
		return host
	}
	member := host + "." + namespace + ".svc"
	if labels == 1 || !isMissing(ctx, lookup, member) {
		return member
	}
	if service := host + ".svc"; !isMissing(ctx, lookup, service) {
		return service
	}
	return host + "."
}

// isMissing reports whether there is no host of that name. Where that cannot be found out there may be one: no other is
// taken for it then.
func isMissing(ctx context.Context, lookup Lookup, host string) bool {
	_, err := lookup(ctx, host)
	var problem *net.DNSError
	return errors.As(err, &problem) && problem.IsNotFound
}
