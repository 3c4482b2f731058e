// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/test/rights"
)

// RBAC cannot tell one new Secret from another; the admission policy can.
func TestThePolicyLimitsTheSecretsThatTheRestoreOperatorWrites(t *testing.T) {
	t.Parallel()
	server := start(t)
	// The admission of owners has to know the kind.
	if err := crdinstall.Ensure(t.Context(), server.RESTConfig(), crd.EtcdRestores(), logr.Discard(), nil); err != nil {
		t.Fatal(err)
	}
	server.createRole(t, "--namespace=default", "--cluster-wide", "--admission-policy")
	config := server.RESTConfig()
	config.Impersonate.UserName = rights.ServiceAccount("default", "etcd-restore-operator")
	operator, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	owner := []metav1.OwnerReference{{APIVersion: "etcd.database.coreos.com/v1beta2", Kind: "EtcdRestore", Name: "r", UID: "u", Controller: &yes, BlockOwnerDeletion: &yes}}
	secret := func(namespace, name string, owners []metav1.OwnerReference, kind corev1.SecretType) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, OwnerReferences: owners, Annotations: map[string]string{corev1.ServiceAccountNameKey: "etcd-operator"},
		}, Type: kind}
	}
	create := func(ctx context.Context, s *corev1.Secret) error {
		_, err := operator.CoreV1().Secrets(s.Namespace).Create(ctx, s, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	refused := func(err error) error {
		if err == nil || !strings.Contains(err.Error(), "The etcd-restore-operator writes no Secrets but") {
			return fmt.Errorf("got %w, want the policy's refusal", errors.Join(err))
		}
		return nil
	}
	// The API server takes a moment to put a policy into force.
	eventually(t, func(ctx context.Context) error {
		return refused(create(ctx, secret("default", "any", nil, corev1.SecretTypeOpaque)))
	})

	for name, tc := range map[string]struct {
		secret  *corev1.Secret
		allowed bool
	}{
		"its identity":                 {secret("default", "etcd-restore-operator-identity", nil, corev1.SecretTypeOpaque), true},
		"a ticket":                     {secret("default", "r-ticket-0a1b2c3d", owner, corev1.SecretTypeOpaque), true},
		"a ticket in another":          {secret("kube-system", "r-ticket-0a1b2c3d", owner, corev1.SecretTypeOpaque), true},
		"an identity in another":       {secret("kube-system", "etcd-restore-operator-identity", nil, corev1.SecretTypeOpaque), false},
		"a ticket of nobody":           {secret("default", "r-ticket-0a1b2c3d", nil, corev1.SecretTypeOpaque), false},
		"another name":                 {secret("default", "aws", owner, corev1.SecretTypeOpaque), false},
		"a token of a service account": {secret("default", "r-ticket-0a1b2c3d", owner, corev1.SecretTypeServiceAccountToken), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := create(t.Context(), tc.secret)
			if !tc.allowed {
				err = refused(err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}

	theirs := secret("default", "aws", nil, corev1.SecretTypeOpaque)
	if _, err := admin.CoreV1().Secrets("default").Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := refused(operator.CoreV1().Secrets("default").Delete(t.Context(), "aws", metav1.DeleteOptions{})); err != nil {
		t.Errorf("deleting a Secret of others: %v", err)
	}
	theirs.OwnerReferences = owner
	_, err = operator.CoreV1().Secrets("default").Update(t.Context(), theirs, metav1.UpdateOptions{})
	if err := refused(err); err != nil {
		t.Errorf("overwriting a Secret of others: %v", err)
	}
	ticket := secret("default", "r-ticket-0a1b2c3d", owner, corev1.SecretTypeOpaque)
	if _, err := admin.CoreV1().Secrets("default").Create(t.Context(), ticket, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := operator.CoreV1().Secrets("default").Delete(t.Context(), ticket.Name, metav1.DeleteOptions{}); err != nil {
		t.Errorf("deleting a ticket: %v", err)
	}
}
