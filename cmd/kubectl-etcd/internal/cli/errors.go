// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io/fs"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// explainError says what went wrong and what to do about it. It is empty where the command has said it already.
func explainError(err error) string {
	text := err.Error()
	var refused *url.Error
	switch {
	case text == "":
		return ""
	case clientcmd.IsEmptyConfig(err):
		return "no cluster is configured: set KUBECONFIG, or use --kubeconfig or --context"
	case errors.Is(err, fs.ErrNotExist):
		return "the kubeconfig cannot be read: " + text
	case isMissingKind(err):
		return "this Kubernetes has no EtcdClusters: the etcd-operator, which creates their CRDs when it starts, is not installed here. " +
			"Install it (docs/installing.md), or choose another cluster with --context"
	case apierrors.IsForbidden(err):
		return "you lack a right: " + reasonOf(err) + ". " + rightsHint(text)
	case apierrors.IsUnauthorized(err):
		return "the API server does not know you: log in again, or choose another --context"
	case errors.As(err, &refused), strings.Contains(text, "connection refused"):
		return "the API server cannot be reached (" + text + "); check --kubeconfig and --context"
	}
	return text
}

// reasonOf is what the API server says about what it refuses.
func reasonOf(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return strings.TrimSuffix(status.Status().Message, ".")
	}
	return err.Error()
}

// rightsHint names the role that has the right.
func rightsHint(text string) string {
	switch {
	case strings.Contains(text, "pods/portforward"):
		return "Asking members needs to create pods/portforward, which the role \"edit\" may do"
	case strings.Contains(text, `"secrets"`):
		return "The members use TLS; asking them needs to get the Secret of spec.TLS.static.operatorSecret"
	case strings.Contains(text, "pods/log"):
		return "Logs need to get pods/log, which the role \"view\" may do"
	case strings.Contains(text, v1beta2.GroupName):
		return "example/rbac/user-roles.yaml adds the etcd kinds to the roles \"view\" and \"edit\""
	}
	return "Ask whoever administers the namespace"
}

// isMissingKind reports whether the API server does not know the kind at all, in contrast to an object of it.
func isMissingKind(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == "" || strings.Contains(status.Status().Message, "could not find the requested resource")
}
