// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"filippo.io/age"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// env is a namespace with a store.
type env struct {
	t         testing.TB
	namespace string
	server    *stores.Server
}

// newEnv makes a namespace with the secret of a store's server.
func newEnv(tb testing.TB, s *stores.Server) *env {
	tb.Helper()
	e := &env{t: tb, namespace: server.NewNamespace(tb), server: s}
	if s.Config.SecretName != "" {
		server.NewSecret(tb, e.namespace, s.Config.SecretName, s.Config.Secret)
	}
	return e
}

// backup is an EtcdBackup into the store, under the key.
func (e *env) backup(name, key string, endpoints ...string) *v1beta2.EtcdBackup {
	return &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name},
		Spec:       v1beta2.BackupSpec{EtcdEndpoints: endpoints, StorageType: e.server.Type(), BackupSource: e.server.BackupSource(key)},
	}
}

func (e *env) create(b *v1beta2.EtcdBackup) {
	e.t.Helper()
	if err := kube.Create(e.t.Context(), b); err != nil {
		e.t.Fatal(err)
	}
}

// read returns the object as it is now.
func (e *env) read(name string) *v1beta2.EtcdBackup {
	e.t.Helper()
	b := &v1beta2.EtcdBackup{}
	if err := kube.Get(e.t.Context(), client.ObjectKey{Namespace: e.namespace, Name: name}, b); err != nil {
		e.t.Fatal(err)
	}
	return b
}

// await waits until the object is as done says.
func (e *env) await(name, what string, done func(*v1beta2.EtcdBackup) bool) *v1beta2.EtcdBackup {
	e.t.Helper()
	var b *v1beta2.EtcdBackup
	harness.Eventually(e.t, harness.Patience, func(context.Context) error {
		if b = e.read(name); done(b) {
			return nil
		}
		return fmt.Errorf("EtcdBackup %s is not %s; its status is %+v", name, what, b.Status)
	})
	return b
}

// awaitGone waits until the object has been deleted.
func (e *env) awaitGone(name string) {
	e.t.Helper()
	harness.Eventually(e.t, harness.Patience, func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKey{Namespace: e.namespace, Name: name}, &v1beta2.EtcdBackup{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("EtcdBackup %s has not been deleted (error %w)", name, err)
	})
}

func (e *env) awaitSuccess(name string) *v1beta2.EtcdBackup {
	e.t.Helper()
	return e.await(name, "successful", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
}

// awaitReason waits until the condition Ready is False for a reason.
func (e *env) awaitReason(name, reason string) *metav1.Condition {
	e.t.Helper()
	b := e.await(name, "failed because of "+reason, func(b *v1beta2.EtcdBackup) bool {
		c := meta.FindStatusCondition(b.Status.Conditions, "Ready")
		return c != nil && c.Status == metav1.ConditionFalse && c.Reason == reason
	})
	return meta.FindStatusCondition(b.Status.Conditions, "Ready")
}

// store opens the store.
func (e *env) store() store.Store {
	e.t.Helper()
	c := e.server.Config
	c.Namespace = e.namespace
	s, _, err := store.Open(e.t.Context(), c)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = s.Close() })
	return s
}

// keys are those of the objects under a prefix.
func (e *env) keys(prefix string) []string {
	e.t.Helper()
	keys := []string{}
	for o, err := range e.store().List(e.t.Context(), prefix) {
		if err != nil {
			e.t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	slices.Sort(keys)
	return keys
}

// checkWhole reads an object through and makes sure that it is a whole snapshot.
func (e *env) checkWhole(key string, keysSecret map[string][]byte) snapshot.Facts {
	e.t.Helper()
	s := e.store()
	var identities []age.Identity
	if keysSecret != nil {
		var err error
		if _, identities, err = snapshot.Keys("test", keysSecret); err != nil {
			e.t.Fatal(err)
		}
	}
	r, facts, err := snapshot.Open(e.t.Context(), s, key, identities, "")
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := io.Copy(io.Discard, r); err != nil {
		e.t.Fatalf("object %s: %v", key, err)
	}
	return facts
}
