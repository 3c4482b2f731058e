// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// The backup as the document has it: its commands, its manifests, the placeholders filled by sed.
func TestBackupWalkthrough(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	s3 := n.StartS3()
	n.Kubectl("create", "-f", "example/example-etcd-cluster.yaml")
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
	c.awaitReady()
	c.fill(30)
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	n.AwaitDeployment("etcd-backup-operator")
	if crds := n.Kubectl("get", "crd"); !strings.Contains(crds, "etcdbackups.etcd.database.coreos.com") {
		t.Errorf("the backup operator made no CRD: %s", crds)
	}
	n.Shell(`sed -e 's|<full-s3-path>|` + s3.Path("etcd.backup") + `|g' -e 's|<aws-secret>|aws|g' ` +
		`-e 's|<etcd-cluster-endpoints>|"http://example-etcd-cluster-client:2379"|g' ` +
		`example/etcd-backup-operator/backup_cr.yaml | kubectl create -f -`)
	done := awaitBackup(n, "example-etcd-cluster-backup", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
	object, err := s3.Open().Stat(t.Context(), "etcd.backup")
	if err != nil {
		t.Fatal(err)
	}
	if object.Size == 0 || done.Status.EtcdRevision < 30 || done.Status.EtcdVersion != c.get().Spec.Version || len(done.Status.SHA256) != 64 {
		t.Errorf("object %+v, status %+v", object, done.Status)
	}
	if shown := n.Kubectl("get", "etcdbackup", "example-etcd-cluster-backup"); !strings.Contains(shown, "true") {
		t.Errorf("kubectl get shows:\n%s", shown)
	}

	// Regular backups of the same cluster, each restored and looked into before it counts.
	n.Apply(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: regular}
spec:
  etcdEndpoints: ["http://example-etcd-cluster-client:2379"]
  storageType: S3
  verify: Restore
  compression: Zstd
  backupPolicy: {backupIntervalInSecond: 5, maxBackups: 2}
  s3: {path: ` + s3.Path("regular") + `, awsSecret: aws}
`)
	names := map[string]bool{}
	awaitBackup(n, "regular", func(b *v1beta2.EtcdBackup) bool {
		for _, kept := range b.Status.Backups {
			names[kept.Name] = true
		}
		return len(names) >= 4 && len(b.Status.Backups) == 2 && b.Status.Verification != nil && b.Status.Verification.Keys >= 30
	})
	pattern := regexp.MustCompile(`^regular_v\d+_\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d$`)
	found := 0
	for object, err := range s3.Open().List(t.Context(), "regular") {
		if err != nil {
			t.Fatal(err)
		}
		if found++; !pattern.MatchString(object.Key) {
			t.Errorf("an object is called %s", object.Key)
		}
	}
	if found < 2 || found > 3 { // a third may be there while the oldest is being removed
		t.Errorf("%d objects are kept, not 2", found)
	}
	// A series holds its object until none of its backups is running. Its operator has to be there for that.
	n.Kubectl("delete", "etcdbackup", "regular", "--timeout=60s")
}

func awaitBackup(n *tenant.Tenant, name string, done func(*v1beta2.EtcdBackup) bool) *v1beta2.EtcdBackup {
	n.Helper()
	var backup *v1beta2.EtcdBackup
	n.Eventually(patience, func(ctx context.Context) (err error) {
		if backup, err = n.Etcd.EtcdV1beta2().EtcdBackups(n.Namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !done(backup) {
			return fmt.Errorf("the status of the backup is %+v", backup.Status)
		}
		return nil
	})
	return backup
}
