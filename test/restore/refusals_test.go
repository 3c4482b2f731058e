// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// What is not an intact snapshot is refused, and the cluster is not touched: not even its annotations are.
func TestObjectsThatAreNoWholeSnapshotAreRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	startOperator(t, s.namespace)
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	api.NewSecret(t, s.namespace, "key", map[string][]byte{"identities": []byte(key.String())})
	c := s.cluster("c")
	s.get(c)
	version := c.ResourceVersion

	flipped := bytes.Clone(snap)
	flipped[len(flipped)/2] ^= 1
	pages := bytes.Repeat([]byte("no database"), 512)
	sum, sumOfFirst := sha256.Sum256(pages), sha256.Sum256(snap[:512])
	s.write("sealed", snapshot.Format{Compression: snapshot.Zstd, Recipients: []age.Recipient{key.Recipient()}}, snapshot.Facts{})
	sealed, labels := s.object("sealed")
	for name, tc := range map[string]struct {
		object []byte
		labels store.Labels
		want   string
	}{
		"cut-off":               {object: snap[:len(snap)/2], want: "it was cut off"},
		"cut-off-at-a-page":     {object: snap[:512*8+32], want: "SHA-256"},
		"without-its-sum":       {object: snap[:len(snap)-32], want: "it was cut off"},
		"flipped":               {object: flipped, want: "SHA-256"},
		"empty":                 {object: nil, want: "it is empty"},
		"foreign":               {object: []byte("kind: ConfigMap\n"), want: "it was cut off"},
		"foreign-with-a-sum":    {object: slices.Concat(pages, sum[:]), want: "it does not begin as an etcd database does"},
		"first-page-with-a-sum": {object: slices.Concat(snap[:512], sumOfFirst[:]), want: "its database should have"},
		"sealed-and-cut-off":    {object: sealed[:len(sealed)-100], labels: labels, want: "the snapshot is broken"},
		"sealed-and-flipped":    {object: flip(sealed, len(sealed)-50), labels: labels, want: "the snapshot is broken"},
		"not-what-it-says":      {object: snap, labels: labels, want: "the snapshot is broken"},
	} {
		if err := s.store().Put(t.Context(), name, bytes.NewReader(tc.object), tc.labels, func() store.Labels { return nil }); err != nil {
			t.Fatal(err)
		}
		r := s.restore(name, name, func(r *v1beta2.EtcdRestore) {
			if tc.labels != nil { // where keys are named, a plain object is refused for that
				r.Spec.EncryptionSecret = "key"
			}
		})
		s.awaitRefusal(r, "SnapshotBroken")
		if !strings.Contains(r.Status.Reason, tc.want) || !strings.Contains(r.Status.Reason, name) {
			t.Errorf("%s is refused because %q, want %q in it", name, r.Status.Reason, tc.want)
		}
	}
	s.put("plain", snap)
	plain := s.restore("plain", "plain", func(r *v1beta2.EtcdRestore) { r.Spec.EncryptionSecret = "key" })
	s.awaitRefusal(plain, "SnapshotBroken")
	if !strings.Contains(plain.Status.Reason, "it is not encrypted") {
		t.Errorf("a plain object is refused because %q", plain.Status.Reason)
	}
	s.awaitRefusal(s.restore("another", "plain", func(r *v1beta2.EtcdRestore) { r.Spec.SHA256 = strings.Repeat("0", 64) }), "SnapshotBroken")
	s.awaitRefusal(s.restore("missing", "missing"), "ObjectNotFound")
	if s.get(c); c.ResourceVersion != version {
		t.Errorf("the cluster was touched: %+v", c)
	}
	if tickets := s.secrets(); slices.ContainsFunc(tickets, func(name string) bool { return strings.Contains(name, "ticket") }) {
		t.Errorf("there are tickets: %v", tickets)
	}
}

// The operator could not talk to the members of such a cluster. The old one is not touched.
func TestABackupWithAuthenticationIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	startOperator(t, s.namespace)
	c := s.cluster("c")
	s.get(c)
	version := c.ResourceVersion
	if err := s.store().Put(t.Context(), "auth", bytes.NewReader(snapWithAuth), nil, func() store.Labels { return nil }); err != nil {
		t.Fatal(err)
	}
	r := s.restore("auth", "auth")
	s.awaitRefusal(r, "AccessRefused")
	if s.get(c); c.ResourceVersion != version {
		t.Errorf("the cluster was touched: %+v", c)
	}
}

func flip(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 1
	return b
}

// What somebody may correct any moment is tried again; what a corrected spec helps is tried again then.
func TestWhatCanBeCorrectedIsRetried(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	startOperator(t, s.namespace)
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	s.write("sealed", snapshot.Format{Recipients: []age.Recipient{key.Recipient()}}, snapshot.Facts{})
	c := s.cluster("c")
	r := s.restore("r", "sealed", func(r *v1beta2.EtcdRestore) { r.Spec.EncryptionSecret = "late" })
	s.await(r, "waiting for the secret", func() bool {
		ready := meta.FindStatusCondition(r.Status.Conditions, "Ready")
		return ready != nil && ready.Reason == "SecretNotUsable" && strings.Contains(r.Status.Reason, `"late"`) && meta.IsStatusConditionTrue(r.Status.Conditions, "Reconciling")
	})
	api.NewSecret(t, s.namespace, "late", map[string][]byte{"identities": []byte(key.String())})
	s.awaitRequest(c, r)
	s.await(r, "requested, without a complaint", func() bool { return r.Status.RequestTime != nil && r.Status.Reason == "" })

	other := s.cluster("other")
	wrong := s.restore("wrong", "sealde", func(r *v1beta2.EtcdRestore) {
		r.Spec.EtcdCluster.Name, r.Spec.EncryptionSecret = "other", "late"
	})
	s.awaitRefusal(wrong, "ObjectNotFound")
	wrong.Spec.S3.Path = stores.Bucket + "/sealed"
	if err := kube.Update(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	s.awaitRequest(other, wrong)
	s.await(wrong, "continuing", func() bool {
		return wrong.Status.CompletionTime == nil && wrong.Status.Reason == "" && !meta.IsStatusConditionTrue(wrong.Status.Conditions, "Stalled")
	})
}

// Clusters that may not be restored now, and restores that come second.
func TestClustersThatMayNotBeRestoredNow(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	startOperator(t, s.namespace)
	s.put("etcd.backup", snap)
	of := func(name string) func(*v1beta2.EtcdRestore) {
		return func(r *v1beta2.EtcdRestore) { r.Spec.EtcdCluster.Name = name }
	}

	s.cluster("paused", func(c *v1beta2.EtcdCluster) { c.Spec.Paused = true })
	s.awaitRefusal(s.restore("paused", "etcd.backup", of("paused")), "ClusterPaused")

	deleting := s.cluster("deleting", func(c *v1beta2.EtcdCluster) { c.Finalizers = []string{"example.com/test"} })
	if err := kube.Delete(t.Context(), deleting); err != nil {
		t.Fatal(err)
	}
	s.awaitRefusal(s.restore("deleting", "etcd.backup", of("deleting")), "ClusterBeingDeleted")

	c := s.cluster("c")
	first := s.restore("first", "etcd.backup")
	s.awaitRequest(c, first)
	second := s.restore("second", "etcd.backup")
	s.awaitRefusal(second, "AnotherRestore")
	if !strings.Contains(second.Status.Reason, `"first"`) {
		t.Errorf("the reason is %q", second.Status.Reason)
	}
	s.setStatus(c, made(withBump(s, first), v1beta2.RestoreStageStarting, "new", 3))
	s.await(first, "done", func() bool { return first.Status.Succeeded && first.Status.TicketSecret == "" })
	// What was refused stays refused; a new one is let through.
	if s.get(second); second.Status.Succeeded || second.Status.CompletionTime == nil {
		t.Errorf("the second one has the status %+v", second.Status)
	}
	third := s.restore("third", "etcd.backup")
	s.awaitRequest(c, third)

	// Deleted while it is being restored.
	if err := kube.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.awaitRefusal(third, "ClusterGone")
}

// What the original operator has dealt with is not done again: that may be years ago.
func TestRestoresOfTheOriginalOperatorAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	s.put("etcd.backup", snap)
	c := s.cluster("c")
	for name, status := range map[string]v1beta2.RestoreStatus{"failed": {Reason: "no"}, "succeeded": {Succeeded: true}} {
		r := s.restore(name, "etcd.backup")
		r.Status = status
		if err := kube.Status().Update(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	startOperator(t, s.namespace)
	// One that comes after them is served, and they are not in its way.
	s.awaitRequest(c, s.restore("new", "etcd.backup"))
	for _, name := range []string{"failed", "succeeded"} {
		r := &v1beta2.EtcdRestore{ObjectMeta: s.meta(name)}
		if s.get(r); r.Status.StartTime != nil || len(r.Status.Conditions) > 0 {
			t.Errorf("the one that had %s has the status %+v", name, r.Status)
		}
	}
}

// object reads an object of the store with its labels.
func (s *scene) object(key string) ([]byte, store.Labels) {
	s.Helper()
	body, object, err := s.store().Get(s.Context(), key)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	var content bytes.Buffer
	if _, err := content.ReadFrom(body); err != nil {
		s.Fatal(err)
	}
	return content.Bytes(), object.Labels
}

// secrets are the names of the secrets in the namespace.
func (s *scene) secrets() []string {
	s.Helper()
	list := &corev1.SecretList{}
	if err := kube.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	var names []string
	for _, secret := range list.Items {
		names = append(names, secret.Name)
	}
	return names
}
