// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// nameBeside is a name of one label that this process would resolve, as the name of a Service beside a cluster-wide
// operator is: the host's own.
func nameBeside(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// called is a URL with another name for its host.
func called(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = net.JoinHostPort(name, u.Port())
	return u.String()
}

// The walkthrough's etcdEndpoints have one label. Beside a cluster-wide operator there may be a cluster of that name too,
// and it is not the one that is meant.
func TestAClusterWideOperatorLooksForNamesInTheNamespaceOfTheObject(t *testing.T) {
	t.Parallel()
	name := nameBeside(t)
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: server.NewNamespace(t), args: []string{"-cluster-wide"}})
	scoped := func(b *v1beta2.EtcdBackup) *v1beta2.EtcdBackup {
		b.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide}
		e.create(b)
		return b
	}
	scoped(e.backup("full", "full", etcd.urls()...))
	e.awaitSuccess("full")

	scoped(e.backup("beside", "beside", called(t, etcd.urls()[0], name)))
	elsewhere := e.backup("store", "store", etcd.urls()...)
	elsewhere.Spec.S3.Endpoint = called(t, elsewhere.Spec.S3.Endpoint, name)
	scoped(elsewhere)
	for object, reason := range map[string]string{"beside": "EtcdUnavailable", "store": string(store.Unreachable)} {
		// While the next attempt is made, Ready says that and not how the last one ended.
		b := e.await(object, "done", func(b *v1beta2.EtcdBackup) bool {
			return b.Status.Succeeded || (b.Status.Failures > 0 && b.Status.Run == nil)
		})
		reported := meta.FindStatusCondition(b.Status.Conditions, "Ready").Reason
		if want := name + "." + e.namespace + ".svc"; b.Status.Succeeded || !strings.Contains(b.Status.Reason, want) || reported != reason {
			t.Errorf("%s: succeeded %t, %s %q, want %s and that %s does not exist", object, b.Status.Succeeded, reported, b.Status.Reason, reason, want)
		}
	}
	if keys := e.keys(""); len(keys) != 1 || keys[0] != "full" {
		t.Errorf("objects = %v, want that of the cluster which was named in full only", keys)
	}
}
