// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// installRestoreOperator starts the restore operator beside the etcd-operator.
func installRestoreOperator(n *tenant.Tenant) {
	n.Helper()
	n.Kubectl("create", "-f", "example/etcd-restore-operator/deployment.yaml")
	n.AwaitDeployment("etcd-restore-operator")
}

// backUp puts a snapshot of the cluster into the store, as etcdctl and a tool of the store would.
func (c *etcdCluster) backUp(s3 *tenant.S3, key string) {
	c.Helper()
	var stream io.ReadCloser
	client := c.client()
	c.Eventually(patience, func(context.Context) (err error) {
		stream, err = client.Snapshot(c.Context())
		return err
	})
	defer func() { _ = stream.Close() }()
	if err := s3.Open().Put(c.Context(), key, stream, nil, func() store.Labels { return nil }); err != nil {
		c.Fatal(err)
	}
}

// restore asks for the restore of a cluster from the store. more is YAML for the spec, in flow style.
func restore(n *tenant.Tenant, name, cluster string, s3 *tenant.S3, key, more string) {
	n.Helper()
	n.Apply(fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata: {name: %s}
spec: {etcdCluster: {name: %s}, backupStorageType: S3, s3: {path: %s, awsSecret: %s}%s}
`, name, cluster, s3.Path(key), tenant.AWSSecret, more))
}

func awaitRestore(n *tenant.Tenant, name string, done func(*v1beta2.EtcdRestore) bool) *v1beta2.EtcdRestore {
	n.Helper()
	var r *v1beta2.EtcdRestore
	n.Eventually(patience, func(ctx context.Context) (err error) {
		if r, err = n.Etcd.EtcdV1beta2().EtcdRestores(n.Namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !done(r) {
			return fmt.Errorf("the status of the restore is %+v", r.Status)
		}
		return nil
	})
	return r
}

// awaitRestored waits for the success of a restore, and until nothing of it is left behind.
func awaitRestored(n *tenant.Tenant, name string) *v1beta2.EtcdRestore {
	n.Helper()
	r := awaitRestore(n, name, func(r *v1beta2.EtcdRestore) bool {
		return r.Status.CompletionTime != nil && r.Status.TicketSecret == ""
	})
	if !r.Status.Succeeded || r.Status.Reason != "" || r.Status.Phase != v1beta2.RestorePhaseDone || !meta.IsStatusConditionTrue(r.Status.Conditions, "Ready") {
		n.Fatalf("the restore ended with the status %+v", r.Status)
	}
	if r.Status.FetchedBytes != r.Status.Backup.Size {
		n.Errorf("%d of %d bytes are reported as fetched", r.Status.FetchedBytes, r.Status.Backup.Size)
	}
	n.Logf("restored within %s", r.Status.CompletionTime.Sub(r.CreationTimestamp.Time))
	return r
}

// identity is what must stay the same of a cluster's object and of its services.
func (c *etcdCluster) identity() string {
	c.Helper()
	cluster := c.get()
	text := fmt.Sprintln(cluster.UID, cluster.Labels, cluster.Annotations, cluster.OwnerReferences, cluster.Spec)
	for _, name := range []string{c.name, c.name + "-client"} {
		service, err := c.Kube.CoreV1().Services(c.Namespace).Get(c.Context(), name, metav1.GetOptions{})
		if err != nil {
			c.Fatal(err)
		}
		text += fmt.Sprintln(service.UID, service.Spec.ClusterIP)
	}
	return text
}

// checkReplaced makes sure that the members are others than before, of another etcd cluster.
func (c *etcdCluster) checkReplaced(id string, pods []string, r *v1beta2.EtcdRestore) {
	c.Helper()
	if now := c.get().Status.ClusterID; now == id || now != r.Status.ClusterID {
		c.Errorf("the id of the cluster was %s, is %s and %s in the restore", id, now, r.Status.ClusterID)
	}
	for _, pod := range names(c.pods()) {
		if slices.Contains(pods, pod) {
			c.Errorf("pod %s is still there", pod)
		}
	}
	if members := c.etcdMembers(); !slices.Equal(names(members), names(c.pods())) {
		c.Errorf("etcd has the members %v in pods %v", names(members), names(c.pods()))
	}
}

// checkImages makes sure that the members need no image but ours and etcd's.
func (c *etcdCluster) checkImages() {
	c.Helper()
	for name, pod := range c.pods() {
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if image := container.Image; image != operatorImage && !strings.HasPrefix(image, v1beta2.DefaultRepository+":") {
				c.Errorf("pod %s needs image %s", name, image)
			}
			if slices.ContainsFunc(container.Command, func(s string) bool { return s == "sh" || strings.HasSuffix(s, "/sh") }) {
				c.Errorf("pod %s needs a shell: %v", name, container.Command)
			}
		}
	}
}

// The restore as the document has it: its commands, its manifests, the placeholders filled by sed. The
// cluster is alive, and is replaced in place.
func TestRestoreWalkthrough(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	s3 := n.StartS3()
	n.Kubectl("create", "-f", "example/example-etcd-cluster.yaml")
	n.Kubectl("label", "etcd", "example-etcd-cluster", "team=databases")
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
	c.awaitReady()
	c.fill(30)
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	n.AwaitDeployment("etcd-backup-operator")
	n.Shell(`sed -e 's|<full-s3-path>|` + s3.Path("etcd.backup") + `|g' -e 's|<aws-secret>|aws|g' ` +
		`-e 's|<etcd-cluster-endpoints>|"http://example-etcd-cluster-client:2379"|g' ` +
		`example/etcd-backup-operator/backup_cr.yaml | kubectl create -f -`)
	backup := awaitBackup(n, "example-etcd-cluster-backup", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
	c.fill(50)
	identity, id, pods := c.identity(), c.get().Status.ClusterID, names(c.pods())

	n.Kubectl("create", "-f", "example/etcd-restore-operator/deployment.yaml")
	n.AwaitDeployment("etcd-restore-operator")
	if crds := n.Kubectl("get", "crd"); !strings.Contains(crds, "etcdrestores.etcd.database.coreos.com") {
		t.Errorf("the restore operator made no CRD: %s", crds)
	}
	n.Shell(`sed -e 's|<full-s3-path>|` + s3.Path("etcd.backup") + `|g' -e 's|<aws-secret>|aws|g' ` +
		`example/etcd-restore-operator/restore_cr.yaml | kubectl create -f -`)
	r := awaitRestored(n, "example-etcd-cluster")
	c.awaitReady()
	c.mustHave(30)
	c.checkReplaced(id, pods, r)
	c.checkImages()
	if diff := cmp.Diff(identity, c.identity()); diff != "" {
		t.Errorf("the object or its services have changed:\n%s", diff)
	}
	if found := r.Status.Backup; found.EtcdRevision != backup.Status.EtcdRevision || found.EtcdVersion != backup.Status.EtcdVersion || found.Time == nil || found.Time.After(backup.Status.LastSuccessDate.Time) {
		t.Errorf("the backup was found to be %+v, and was %+v", found, backup.Status)
	}
	for _, event := range []string{"BackupChecked", "RestoreRequested", "RestoreSucceeded"} {
		if events := n.Kubectl("get", "events", "--field-selector=involvedObject.kind=EtcdRestore"); !strings.Contains(events, event) {
			t.Errorf("there is no event %s among\n%s", event, events)
		}
	}
	if shown := n.Kubectl("get", "etcdrestore", "example-etcd-cluster"); !strings.Contains(shown, "true") || !strings.Contains(shown, "Done") {
		t.Errorf("kubectl get shows:\n%s", shown)
	}
	if secrets := n.Kubectl("get", "secrets", "-o", "name"); strings.Contains(secrets, "ticket") {
		t.Errorf("a ticket is left: %s", secrets)
	}
	// The new cluster is one as any other.
	c.kill(names(c.pods())[0])
	c.patch(`{"size":5}`)
	c.awaitReady()
	c.mustHave(30)
}

// Nothing is left of a cluster but its object.
func TestRestoreWhenAllMembersAndVolumesAreGone(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	c := create(n, "gone", withVolumes)
	c.awaitReady()
	c.fill(30)
	c.backUp(s3, "etcd.backup")
	id, pods := c.get().Status.ClusterID, names(c.pods())
	// The operator would bring pods back while their volumes go.
	n.StopOperator()
	n.Kubectl("delete", "pods,persistentvolumeclaims", "-l", "etcd_cluster=gone", "--grace-period=0", "--force")
	n.ResumeOperator()
	c.awaitReason("AllDataLost")
	restore(n, "back", "gone", s3, "etcd.backup", "")
	r := awaitRestored(n, "back")
	c.awaitReady()
	c.mustHave(30)
	c.checkReplaced(id, pods, r)
	claims, err := n.Kube.CoreV1().PersistentVolumeClaims(n.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(claims.Items) != 3 {
		t.Errorf("%d volumes, not one for each of 3 members", len(claims.Items))
	}
}

// The volumes of the cluster that is replaced are there until the new one is healthy, and longer on request.
func TestTheOldVolumesAreKeptUntilTheNewClusterIsHealthy(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	for _, keep := range []bool{false, true} {
		name := fmt.Sprintf("keep-%t", keep)
		c := create(n, name, withVolumes)
		c.awaitReady()
		c.fill(10)
		c.backUp(s3, name)
		old := names(c.pods())
		restore(n, name, name, s3, name, fmt.Sprintf(", keepOldVolumes: %t", keep))
		there := func(ctx context.Context) int {
			count := 0
			for _, claim := range old {
				if _, err := n.Kube.CoreV1().PersistentVolumeClaims(n.Namespace).Get(ctx, claim, metav1.GetOptions{}); err == nil {
					count++
				} else if !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
			}
			return count
		}
		awaitRestore(n, name, func(r *v1beta2.EtcdRestore) bool {
			if count := there(t.Context()); count != len(old) {
				if voters := len(c.voters()); voters != 3 {
					t.Fatalf("%d of %d old volumes are left while %d new members serve", count, len(old), voters)
				}
			}
			return r.Status.Succeeded
		})
		want := 0
		if keep {
			want = len(old)
		}
		n.Eventually(patience, func(ctx context.Context) error {
			if count := there(ctx); count != want {
				return fmt.Errorf("%d old volumes are left, not %d", count, want)
			}
			return nil
		})
		c.mustHave(10)
		n.Kubectl("delete", "etcd", name)
		if keep && there(t.Context()) != want {
			t.Error("volumes that were to be kept went with the cluster")
		}
	}
}

// voters are the members that serve as such at this moment.
func (c *etcdCluster) voters() []string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
	defer cancel()
	var serving []string
	for name := range c.pods() {
		client := c.member(name)
		if status, err := client.Status(ctx, client.Endpoints()[0]); err == nil && !status.IsLearner && status.Leader != 0 {
			serving = append(serving, name)
		}
	}
	return serving
}

// Under another name, in another namespace, with nothing at hand but the backup, which is compressed
// and encrypted, and which the spec of the cluster was kept with.
func TestRestoreIntoANewNameAndNamespace(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	s3 := n.StartS3()
	c := create(n, "here", `{size: 3, version: "3.6.16", pod: {etcdEnv: [{name: ETCD_AUTO_COMPACTION_RETENTION, value: "1"}], labels: {team: databases}}}`)
	c.awaitReady()
	c.fill(30)
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	n.Kubectl("create", "secret", "generic", "backup-key", "--from-literal=recipients="+key.Recipient().String())
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	n.AwaitDeployment("etcd-backup-operator")
	n.Apply(fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: sealed}
spec:
  etcdEndpoints: ["http://here-client:2379"]
  storageType: S3
  compression: Zstd
  encryptionSecret: backup-key
  s3: {path: %s, awsSecret: aws}
`, s3.Path("sealed")))
	awaitBackup(n, "sealed", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })

	elsewhere := tenant.New(t)
	elsewhere.InstallOperator()
	installRestoreOperator(elsewhere)
	s3.GiveSecret(elsewhere)
	restore(elsewhere, "keyless", "keyless", s3, "sealed", "")
	awaitRestore(elsewhere, "keyless", func(r *v1beta2.EtcdRestore) bool {
		return !r.Status.Succeeded && strings.Contains(r.Status.Reason, "the backup is encrypted")
	})
	elsewhere.Kubectl("delete", "etcdrestore", "keyless")
	elsewhere.Kubectl("create", "secret", "generic", "backup-key", "--from-literal=identities="+key.String())
	restore(elsewhere, "move", "there", s3, "sealed", ", encryptionSecret: backup-key, ttlSecondsAfterFinished: 0")
	moved := &etcdCluster{Tenant: elsewhere, name: "there"}
	moved.Eventually(patience, func(ctx context.Context) error {
		_, err := elsewhere.Etcd.EtcdV1beta2().EtcdClusters(elsewhere.Namespace).Get(ctx, "there", metav1.GetOptions{})
		return err
	})
	moved.awaitReady()
	moved.mustHave(30)
	want := v1beta2.ClusterSpec{Size: c.get().Spec.Size, Version: c.get().Spec.Version}
	if diff := cmp.Diff(want, moved.get().Spec); diff != "" {
		t.Errorf("the spec is not size and version of the cluster that was backed up:\n%s", diff)
	}
	elsewhere.Eventually(patience, func(ctx context.Context) error {
		_, err := elsewhere.Etcd.EtcdV1beta2().EtcdRestores(elsewhere.Namespace).Get(ctx, "move", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the EtcdRestore outlives its ttlSecondsAfterFinished of 0: %w", err)
		}
		return nil
	})
	if _, asked := moved.get().Annotations[v1beta2.AnnotationRestore]; asked {
		t.Error("the request is left on the cluster")
	}
	// And by a spec of its own, beside it.
	restore(elsewhere, "small", "small", s3, "sealed", `, encryptionSecret: backup-key, clusterSpec: {size: 1, version: "3.6.16"}`)
	awaitRestored(elsewhere, "small")
	small := &etcdCluster{Tenant: elsewhere, name: "small"}
	small.mustHave(30)
	c.mustHave(30)
}

// A cluster with TLS is restored with its certificates.
func TestRestoreOfATLSCluster(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	a := newAuthority(n, "secure")
	a.secret("etcd-peer-tls", "peer.crt", "peer.key", "peer-ca.crt", a.peer()...)
	a.secret("etcd-server-tls", "server.crt", "server.key", "server-ca.crt", a.server()...)
	a.secret("etcd-client-tls", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator")
	c := create(n, "secure", `{size: 3, version: "3.6.16", TLS: {static: {member: {peerSecret: etcd-peer-tls, serverSecret: etcd-server-tls}, operatorSecret: etcd-client-tls}}}`)
	c.tls = a.config()
	c.awaitReady()
	c.fill(30)
	c.backUp(s3, "etcd.backup")
	c.fill(40)
	id, pods := c.get().Status.ClusterID, names(c.pods())
	restore(n, "back", "secure", s3, "etcd.backup", "")
	r := awaitRestored(n, "back")
	c.awaitReady()
	c.mustHave(30)
	c.checkReplaced(id, pods, r)
}

// A snapshot of one version restored into the next, and each version by the tool that it has: etcdctl
// in 3.4, etcdutl since.
func TestRestoreOfOtherVersions(t *testing.T) {
	t.Parallel()
	for _, version := range []struct {
		from, to string
		bumps    bool
	}{{"3.5.35", "3.6.16", true}, {"3.4.23", "3.4.23", false}, {"3.6.16", "3.7.3", true}} {
		t.Run(version.from+" into "+version.to, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			installRestoreOperator(n)
			s3 := n.StartS3()
			c := create(n, "old", `{size: 1, version: "`+version.from+`"}`)
			c.awaitReady()
			c.fill(30)
			c.backUp(s3, "etcd.backup")
			restore(n, "into", "new", s3, "etcd.backup", `, clusterSpec: {size: 3, version: "`+version.to+`"}`)
			r := awaitRestored(n, "into")
			into := &etcdCluster{Tenant: n, name: "new"}
			into.mustHave(30)
			for _, m := range into.get().Status.MemberStatuses {
				if m.Version != version.to {
					t.Errorf("member %+v is not of %s", m, version.to)
				}
			}
			if bumped := *r.Status.RevisionBump > 0; bumped != version.bumps {
				t.Errorf("the revision was raised by %d", *r.Status.RevisionBump)
			}
		})
	}
}

// A client that was watching when the cluster was restored learns that it has missed something. It
// never sees a revision that it has seen already.
func TestAWatcherSeesACompactionAndNoDecreasingRevision(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	c := create(n, "watched", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	c.fill(30)
	c.backUp(s3, "etcd.backup")
	c.fill(30) // what is lost by the restore

	var seen int64
	watcher := c.client()
	events := watcher.Watch(clientv3.WithRequireLeader(t.Context()), "kept/", clientv3.WithPrefix(), clientv3.WithRev(1))
	next := func() clientv3.WatchResponse {
		t.Helper()
		select {
		case response, ok := <-events:
			if !ok {
				t.Fatal("the watch ended without a word")
			}
			return response
		case <-time.After(patience):
			t.Fatal("the watcher hears nothing")
		}
		return clientv3.WatchResponse{}
	}
	for count := 0; count < 60; {
		response := next()
		count += len(response.Events)
		seen = max(seen, response.Header.Revision)
	}
	restore(n, "back", "watched", s3, "etcd.backup", "")
	for {
		response := next()
		if response.CompactRevision > 0 {
			if response.CompactRevision <= seen {
				t.Errorf("compacted at revision %d, while %d was seen", response.CompactRevision, seen)
			}
			break
		}
		if err := response.Err(); err != nil {
			// The members went away; as clients do, this one watches again from where it was.
			t.Logf("the watcher hears: %v", err)
			events = watcher.Watch(clientv3.WithRequireLeader(t.Context()), "kept/", clientv3.WithPrefix(), clientv3.WithRev(seen+1))
			continue
		}
		for _, event := range response.Events {
			if event.Kv.ModRevision <= seen {
				t.Fatalf("revision %d came after %d", event.Kv.ModRevision, seen)
			}
			seen = event.Kv.ModRevision
		}
	}
	r := awaitRestored(n, "back")
	c.mustHave(30)
	c.Eventually(patience, func(ctx context.Context) error {
		put, err := c.client().Put(ctx, "after", "x")
		if err != nil {
			return err
		}
		if put.Header.Revision <= seen || *r.Status.RevisionBump == 0 {
			t.Errorf("revision %d comes after %d, raised by %d", put.Header.Revision, seen, *r.Status.RevisionBump)
		}
		return nil
	})
}
