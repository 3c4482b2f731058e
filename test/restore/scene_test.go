// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
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

// scene is a namespace with a store.
type scene struct {
	testing.TB
	namespace string
	server    *stores.Server
}

func newScene(tb testing.TB, server *stores.Server) *scene {
	tb.Helper()
	s := &scene{TB: tb, namespace: api.NewNamespace(tb), server: server}
	s.server.Config.Namespace = s.namespace
	if name := server.Config.SecretName; name != "" {
		api.NewSecret(tb, s.namespace, name, server.Config.Secret)
	}
	return s
}

func (s *scene) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

// store opens the store.
func (s *scene) store() store.Store {
	s.Helper()
	opened, _, err := store.Open(s.Context(), s.server.Config)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = opened.Close() })
	return opened
}

// put stores an object as another tool would.
func (s *scene) put(key string, object []byte) {
	s.Helper()
	if err := s.store().Put(s.Context(), key, bytes.NewReader(object), nil, func() store.Labels { return nil }); err != nil {
		s.Fatal(err)
	}
}

// write stores a backup as the backup operator does.
func (s *scene) write(key string, format snapshot.Format, facts snapshot.Facts) {
	s.Helper()
	if _, err := snapshot.Write(s.Context(), s.store(), key, bytes.NewReader(snap), format, facts, nil); err != nil {
		s.Fatal(err)
	}
}

// cluster makes an EtcdCluster that runs, as its status says.
func (s *scene) cluster(name string, changes ...func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	s.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: s.meta(name), Spec: v1beta2.ClusterSpec{Size: 3, Version: "3.6.16"}}
	for _, change := range changes {
		change(c)
	}
	if err := kube.Create(s.Context(), c); err != nil {
		s.Fatal(err)
	}
	s.setStatus(c, func(status *v1beta2.ClusterStatus) {
		status.Bootstrap = &v1beta2.BootstrapStatus{Seed: name + "-1", PodUID: "p"}
		status.ClusterID = "old"
		ready(status, corev1.ConditionTrue, 3)
	})
	return c
}

// ready sets the condition Ready.
func ready(status *v1beta2.ClusterStatus, is corev1.ConditionStatus, members int32) {
	status.ReadyReplicas = members
	status.Conditions = []v1beta2.ClusterCondition{{Type: v1beta2.ClusterConditionReady, Status: is, Reason: "Test", Message: "set by the test"}}
}

// setStatus plays the etcd-operator.
func (s *scene) setStatus(c *v1beta2.EtcdCluster, change func(*v1beta2.ClusterStatus)) {
	s.Helper()
	s.eventually("the status of the cluster can be written", func() bool {
		s.get(c)
		change(&c.Status)
		c.Status.ObservedGeneration = c.Generation
		err := kube.Status().Update(s.Context(), c)
		if err != nil && !apierrors.IsConflict(err) {
			s.Fatal(err)
		}
		return err == nil
	})
}

// restore makes an EtcdRestore of the cluster c from the store.
func (s *scene) restore(name, key string, changes ...func(*v1beta2.EtcdRestore)) *v1beta2.EtcdRestore {
	s.Helper()
	r := &v1beta2.EtcdRestore{ObjectMeta: s.meta(name), Spec: v1beta2.RestoreSpec{
		BackupStorageType: s.server.Type(), RestoreSource: s.server.RestoreSource(key), EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
	}}
	for _, change := range changes {
		change(r)
	}
	if err := kube.Create(s.Context(), r); err != nil {
		s.Fatal(err)
	}
	return r
}

// get reads an object as it is now.
func (s *scene) get(object client.Object) {
	s.Helper()
	if err := kube.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.Fatal(err)
	}
}

// gone reports whether an object is not there any more.
func (s *scene) gone(object client.Object) bool {
	s.Helper()
	err := kube.Get(s.Context(), client.ObjectKeyFromObject(object), object)
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
	return err != nil
}

// eventually waits until what check reports is true.
func (s *scene) eventually(what string, check func() bool) {
	s.Helper()
	harness.Eventually(s, harness.Patience, func(context.Context) error {
		if !check() {
			return fmt.Errorf("it is not true that %s", what)
		}
		return nil
	})
}

// await waits until the restore is as done says.
func (s *scene) await(r *v1beta2.EtcdRestore, what string, done func() bool) {
	s.Helper()
	harness.Eventually(s, harness.Patience, func(context.Context) error {
		if s.get(r); !done() {
			return fmt.Errorf("EtcdRestore %s is not %s; its status is %+v", r.Name, what, r.Status)
		}
		return nil
	})
}

// awaitRefusal waits until the restore has failed permanently because of a reason.
func (s *scene) awaitRefusal(r *v1beta2.EtcdRestore, reason string) {
	s.Helper()
	s.await(r, "at its end", func() bool { return r.Status.CompletionTime != nil })
	condition := meta.FindStatusCondition(r.Status.Conditions, "Ready")
	if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason != reason {
		s.Errorf("EtcdRestore %s failed because of %+v, not %s", r.Name, condition, reason)
	}
	if r.Status.Succeeded || r.Status.Reason == "" || r.Status.Phase != v1beta2.RestorePhaseFailed || !meta.IsStatusConditionTrue(r.Status.Conditions, "Stalled") {
		s.Errorf("EtcdRestore %s failed with the status %+v", r.Name, r.Status)
	}
}

// awaitRequest waits until the cluster carries the request of the restore.
func (s *scene) awaitRequest(c *v1beta2.EtcdCluster, r *v1beta2.EtcdRestore) v1beta2.RestoreRequest {
	s.Helper()
	var request v1beta2.RestoreRequest
	s.eventually(fmt.Sprintf("the cluster carries the request of EtcdRestore %s", r.Name), func() bool {
		if kube.Get(s.Context(), client.ObjectKeyFromObject(c), c) != nil {
			return false
		}
		var err error
		request, err = v1beta2.RestoreRequestOf(c)
		return err == nil && request.UID == r.UID
	})
	return request
}

// ticket reads the Secret that a request names.
func (s *scene) ticket(request v1beta2.RestoreRequest) *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{ObjectMeta: s.meta(request.Secret)}
	s.get(secret)
	return secret
}

// fetch does what the first member does. The name in the URL leads nowhere here, so that the connection
// goes to the operator directly; the certificate still has to be for the name.
func (s *scene) fetch(p *harness.RunningOperator, request v1beta2.RestoreRequest, ca []byte, authorization string) (int, []byte, error) {
	s.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, request.URL, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	name := req.URL.Hostname()
	req.URL.Host = p.BackupAddress
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
