// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package secretfield reads the secrets that fields of our kinds name, and says in one sentence what to
// change where one cannot be had.
package secretfield

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Read returns the content of the secret that a field of the spec names. No name is no content.
func Read(ctx context.Context, r client.Reader, namespace, field, name string) (map[string][]byte, error) {
	if name == "" {
		return nil, nil
	}
	var secret corev1.Secret
	err := r.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("secret %q, which %s names, does not exist in namespace %q; create it", name, field, namespace)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("the operator may not read secret %q, which %s names; grant it get on secrets", name, field)
	case err != nil:
		return nil, fmt.Errorf("reading secret %q, which %s names: %w", name, field, err)
	}
	return secret.Data, nil
}
