// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/internal/stall"
)

// Problem is what is wrong, as far as it decides what to do about it.
type Problem string

// The problems that stores have.
const (
	// BadConfig: the spec or the secret has to be changed.
	BadConfig Problem = "InvalidStore"
	// BadCredentials: the store does not know the key, or its signature is wrong.
	BadCredentials Problem = "CredentialsRefused"
	// Denied: the store knows who asks and refuses.
	Denied Problem = "PermissionDenied"
	// NoBucket: the bucket does not exist.
	NoBucket Problem = "BucketNotFound"
	// NoObject: the object does not exist.
	NoObject Problem = "ObjectNotFound"
	// Full: a quota or the disk is used up.
	Full Problem = "StoreFull"
	// ClockSkew: this machine's clock and the store's differ too much.
	ClockSkew Problem = "ClockSkew"
	// Unreachable: no answer.
	Unreachable Problem = "StoreUnreachable"
	// Failed: the store answered with an error that says no more than that.
	Failed Problem = "StoreFailed"
)

// Problems are all of them.
var Problems = []Problem{BadConfig, BadCredentials, Denied, NoBucket, NoObject, Full, ClockSkew, Unreachable, Failed}

// Error is an answer of a store. Text is one sentence for the user, without anything secret.
type Error struct {
	Problem Problem
	Text    string
	// Err is the cause; it may hold more than a user should see, so that Text does not include it.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Reason is the problem, for the conditions of an object.
func (e *Error) Reason() string { return string(e.Problem) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether err is an Error with the given problem.
func Is(err error, p Problem) bool {
	var e *Error
	return errors.As(err, &e) && e.Problem == p
}

// verb is something that is asked of a store.
type verb string

const (
	writing  verb = "write"
	reading  verb = "read"
	listing  verb = "list"
	deleting verb = "delete"
)

// explainer makes the errors of one store.
type explainer struct {
	bucketField string // what the store calls a bucket
	bucket      string
	identity    string // who asks, in words: `the keys in secret "aws"`
	service     string // address, for messages
	permissions map[verb]string
	secret      map[string][]byte
}

// newExplainer prepares messages for a store of c.
func newExplainer(c Config, bucketField, bucket, service string, permissions map[verb]string) explainer {
	identity := "the identity of the operator's pod"
	if c.SecretName != "" {
		identity = fmt.Sprintf("the identity in secret %q", c.SecretName)
	}
	return explainer{
		bucketField: bucketField, bucket: bucket, identity: identity, service: service,
		permissions: permissions, secret: c.Secret,
	}
}

// explain turns a problem that a store found while doing v into an Error. code is the service's own
// name for it, or empty.
func (x explainer) explain(v verb, p Problem, code string, cause error) error {
	if errors.Is(cause, context.Canceled) || (errors.Is(cause, context.DeadlineExceeded) && !ownTimeout(cause)) {
		// The caller ended it and knows why.
		return fmt.Errorf("waiting for the store at %s: %w", x.service, cause)
	}
	text := x.sentence(v, p)
	if slow := new(stall.SlowError); errors.As(cause, &slow) {
		text = fmt.Sprintf("the store at %s is too slow; check it and the network", x.service)
	}
	if code != "" {
		text += " (" + outside.Text(x.scrub(code)) + ")"
	}
	return &Error{Problem: p, Text: text, Err: cause}
}

// sentence says what a problem is, and what to do about it.
func (x explainer) sentence(v verb, p Problem) (text string) {
	switch p {
	case NoBucket:
		text = fmt.Sprintf("%s %q does not exist at %s; create it, or correct path", x.bucketField, x.bucket, x.service)
	case Denied:
		text = fmt.Sprintf("the store refuses to %s in %s %q; grant %s to %s",
			v, x.bucketField, x.bucket, x.permissions[v], x.identity)
	case BadCredentials:
		text = fmt.Sprintf("the store at %s does not accept %s; correct the secret", x.service, x.identity)
	case Full:
		text = fmt.Sprintf("%s %q is full; free space in it, raise its quota, or lower maxBackups", x.bucketField, x.bucket)
	case ClockSkew:
		text = fmt.Sprintf("the clocks of the store at %s and of the operator's node differ too much; correct the node's time", x.service)
	case Unreachable:
		text = fmt.Sprintf("the store at %s does not answer; check endpoint, the network and the proxy settings", x.service)
	case BadConfig:
		text = fmt.Sprintf("the store at %s is not used; correct endpoint", x.service)
	case NoObject:
		text = fmt.Sprintf("there is no such object in %s %q", x.bucketField, x.bucket)
	default:
		text = fmt.Sprintf("the store at %s failed to %s", x.service, v)
	}
	return text
}

// network tells the errors of a connection from those of a service: ok is false where the service
// answered. The code says what kind of failure it was.
func network(err error) (p Problem, code string, ok bool) {
	var unknownCA x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var dns *net.DNSError
	var operation *net.OpError
	var slow *stall.SlowError
	if refused := outside.IsRefused(err); refused != nil {
		return BadConfig, refused.Error(), true
	}
	switch {
	case errors.As(err, &slow):
		return Unreachable, slow.Error(), true
	case errors.Is(err, http.ErrSchemeMismatch):
		return Unreachable, "it does not speak TLS; use http:// in endpoint", true
	case errors.As(err, &unknownCA):
		return Unreachable, "its certificate is signed by an unknown authority; put that into ca.crt of the secret", true
	case errors.As(err, &hostname):
		return Unreachable, "its certificate is for another name", true
	case errors.As(err, &invalid):
		return Unreachable, "its certificate is not valid now", true
	case errors.As(err, &dns):
		return Unreachable, "its name cannot be resolved", true
	case errors.Is(err, syscall.ECONNREFUSED):
		return Unreachable, "connection refused", true
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Full, "", true
	case errors.As(err, &operation):
		return Unreachable, operation.Op + " failed", true
	}
	return "", "", false
}

// unanswered explains an error that is neither an answer of the service nor one that network knows.
func (x explainer) unanswered(v verb, err error) error {
	var request *url.Error
	var timed net.Error
	switch {
	case errors.As(err, &timed) && timed.Timeout():
		return x.explain(v, Unreachable, "it took the connection and did not answer in time", err)
	case errors.As(err, &request):
		return x.explain(v, Unreachable, request.Err.Error(), err)
	}
	return x.explain(v, Failed, "", err)
}

// ownTimeout reports whether an error is a time limit of the connection and not the caller's. The errors of Go's
// network packages say of themselves that they are the context's, also where they have nothing to do with it.
func ownTimeout(err error) bool {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	if err == context.DeadlineExceeded { //nolint:errorlint // it is about the innermost error
		return false
	}
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}

// scrub removes everything secret from a text. Short values are left alone: they are region names
// and the like, and removing them would make messages unreadable.
func (x explainer) scrub(text string) string {
	var values []string
	for _, content := range x.secret {
		values = append(values, strings.FieldsFunc(string(content), func(r rune) bool {
			return strings.ContainsRune(" \t\r\n=\"',:[]{}", r)
		})...)
		values = append(values, strings.TrimSpace(string(content)))
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, value := range values {
		if len(value) >= 12 {
			text = strings.ReplaceAll(text, value, "***")
		}
	}
	return text
}
