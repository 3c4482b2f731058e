// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

func TestOneBackupInEveryStoreIsWholeAndReported(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	revision := etcd.fill(20)
	for _, kind := range stores.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, kind.Start(t))
			var args []string
			if root := e.server.Config.FileRoot; root != "" {
				args = []string{"-file-store-dir", root}
			}
			p := startOperator(t, launch{namespace: e.namespace, args: args})
			e.create(e.backup("one", "folder/etcd.backup", etcd.urls()...))
			b := e.awaitSuccess("one")

			s := b.Status
			if s.Reason != "" || s.EtcdVersion != "3.6.16" || s.EtcdRevision != revision || s.LastSuccessDate.IsZero() {
				t.Errorf("the original's part of the status is %+v, want revision %d of 3.6.16", s, revision)
			}
			if s.ObservedGeneration != b.Generation || s.Size < 20<<20 || len(s.SHA256) != 64 || s.Duration == nil || s.Run != nil ||
				!strings.HasSuffix(s.URL, stores.Bucket+"/folder/etcd.backup") {
				t.Errorf("the status is %+v", s)
			}
			if !meta.IsStatusConditionTrue(s.Conditions, "Ready") || len(s.Conditions) != 1 {
				t.Errorf("conditions = %+v, want Ready alone", s.Conditions)
			}
			if keys := e.keys("folder/"); len(keys) != 1 {
				t.Errorf("objects = %v, want one", keys)
			}
			facts := e.checkWhole("folder/etcd.backup", nil)
			if facts.SHA256 != s.SHA256 || facts.Revision != revision || facts.Owner != string(b.UID) || facts.ClusterID == "" {
				t.Errorf("the object's metadata is %+v, the status %+v", facts, s)
			}
			p.CheckMetrics(t, `etcd_operator_backups_success_total{cluster="",name="one",namespace="`+e.namespace+`"} 1`)
			checkEvent(t, e, "BackupSucceeded")
		})
	}
}

func checkEvent(t *testing.T, e *env, reason string) {
	t.Helper()
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		var list corev1.EventList
		if err := kube.List(ctx, &list, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.Reason == reason && event.InvolvedObject.Kind == "EtcdBackup" {
				return nil
			}
		}
		return fmt.Errorf("there is no event %s", reason)
	})
}

func TestVerifiedBackupsOfEveryVersionRestore(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][]byte{"identities": []byte(identity.String() + "\n")}
	e := newEnv(t, stores.StartS3(t))
	server.NewSecret(t, e.namespace, "keys", keys)
	startOperator(t, launch{namespace: e.namespace})
	for _, version := range []string{"v3.5.35", "v3.6.16", "v3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			etcd := startEtcd(t, version, 1)
			revision := etcd.put(50)
			// A history with a compaction and a deletion, which the hash and the count depend on.
			c := etcd.client()
			if _, err := c.Delete(t.Context(), "key/0007"); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compact(t.Context(), revision-10); err != nil {
				t.Fatal(err)
			}
			name := "verified-" + strings.ReplaceAll(version, ".", "-")
			b := e.backup(name, name, etcd.urls()...)
			b.Spec.Verify = v1beta2.BackupVerificationRestore
			b.Spec.Compression = v1beta2.BackupCompressionZstd
			b.Spec.EncryptionSecret = "keys"
			e.create(b)
			b = e.awaitSuccess(name)
			v := b.Status.Verification
			if v == nil || v.EtcdRevision != revision+1 || v.Keys != 50 || v.Hash == 0 {
				t.Errorf("verification = %+v, want 50 keys at revision %d", v, revision+1)
			}
			facts := e.checkWhole(name, keys)
			if facts.Compression != "zstd" || facts.Encryption != "age" || b.Status.Size >= facts.SnapshotSize {
				t.Errorf("the object is %+v, want it compressed and encrypted", facts)
			}
		})
	}
}

// It has replaced what was under its name, and nothing speaks against it.
// After a compaction at its last revision etcd answers for that revision with the hash of the data before the compaction.
func TestABackupOfAClusterThatWasJustCompactedIsVerified(t *testing.T) {
	t.Parallel()
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: e.namespace})
	for _, version := range []string{"v3.5.35", "v3.6.16", "v3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			etcd := startEtcd(t, version, 1)
			etcd.put(50)
			revision := etcd.put(50)
			if _, err := etcd.client().Compact(t.Context(), revision, clientv3.WithCompactPhysical()); err != nil {
				t.Fatal(err)
			}
			name := "compacted-" + strings.ReplaceAll(version, ".", "-")
			b := e.backup(name, name, etcd.urls()...)
			b.Spec.Verify = v1beta2.BackupVerificationRestore
			e.create(b)
			if v := e.awaitSuccess(name).Status.Verification; v == nil || v.EtcdRevision != revision || v.Hash == 0 {
				t.Errorf("verification = %+v, want one at revision %d", v, revision)
			}
		})
	}
}

func TestABackupThatCannotBeVerifiedStaysUnderItsName(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.put(5)
	e := newEnv(t, stores.StartFile(t))
	notAFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notAFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	startOperator(t, launch{namespace: e.namespace, args: []string{"-file-store-dir", e.server.Config.FileRoot, "-verify-dir", notAFolder}})
	if err := e.store().Put(t.Context(), "one", strings.NewReader("old"), nil, func() store.Labels { return nil }); err != nil {
		t.Fatal(err)
	}
	b := e.backup("one", "one", etcd.urls()...)
	b.Spec.Verify = v1beta2.BackupVerificationRestore
	e.create(b)
	if c := e.awaitReason("one", "VerificationFailed"); !strings.Contains(c.Message, "could not be verified") {
		t.Errorf("message = %q", c.Message)
	}
	if facts := e.checkWhole("one", nil); facts.Owner != string(b.UID) {
		t.Errorf("the object is %+v, want the new backup", facts)
	}
}
