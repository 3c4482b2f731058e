// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/lab/volumes"
	"github.com/etcd-operator/etcd-operator/test/repository"
	"github.com/etcd-operator/etcd-operator/test/stores"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// oldestEtcd stands in for 3.2.13, which the original's manifests name and of which there is no image here.
const oldestEtcd = "3.4.23"

// read is a manifest of the original or of the fork. Three words are not as they were: the image of the operator, the
// version of etcd, and the name of the bucket.
func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository.Root(), "test", path))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`image: (quay.io/coreos|ghcr.io/on2itsecurity)/etcd-operator:.*`).ReplaceAllString(string(content), "image: "+operatorImage)
	return strings.NewReplacer("3.2.13", oldestEtcd, "mybucket/", stores.Bucket+"/").Replace(text)
}

// takeover is a namespace in which the operators of the given manifests run. Neither project knew of the restricted pod
// security standard, nor of ServiceAccounts for the operators.
func takeover(t *testing.T, deployments ...string) *tenant.Tenant {
	t.Helper()
	n := tenant.New(t)
	n.Kubectl("label", "namespace", n.Namespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
	n.CreateRole("--service-account=default")
	for _, path := range deployments {
		n.Apply(read(t, "e2e/testdata/"+path))
		n.AwaitDeployment(strings.TrimSuffix(filepath.Base(path), ".yaml"))
	}
	return n
}

// The manifests that people have from the original and from the fork, on today's Kubernetes and with an etcd that is
// about as old as they are.
func TestManifestsOfTheOriginalAndOfTheForkPlay(t *testing.T) {
	t.Parallel()
	t.Run("the life of a cluster", playLifeOfACluster)
	t.Run("an image that cannot be had", playMissingImage)
	t.Run("pod policy", playPodPolicy)
	t.Run("volumes", playVolumes)
	t.Run("TLS", playTLS)
	t.Run("the fork's cluster", playFork)
}

func playLifeOfACluster(t *testing.T) {
	t.Parallel()
	n := takeover(t, "original/etcd-operator.yaml", "original/etcd-backup-operator.yaml", "original/etcd-restore-operator.yaml")
	n.StartS3()
	n.Apply(read(t, "api/testdata/original/cluster.yaml"))
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
	c.awaitReady()
	if events := c.events(); strings.Count(events, "New Member Added") != 3 {
		t.Errorf("not each of three members is announced: %s", events)
	}
	if status := c.get().Status; status.Size != 3 || len(status.Members.Ready) != 3 || status.Phase != v1beta2.ClusterPhaseRunning || status.CurrentVersion != oldestEtcd {
		t.Errorf("the status is %+v", status)
	}
	c.fill(30)

	manifest := filepath.Join(t.TempDir(), "backup.yaml")
	if err := os.WriteFile(manifest, []byte(read(t, "api/testdata/original/backup-s3.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(strings.TrimSpace(n.Kubectl("create", "-o", "name", "-f", manifest)), "etcdbackup.etcd.database.coreos.com/")
	awaitBackup(n, name, func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded && b.Status.EtcdVersion == oldestEtcd })

	before := c.get().Status.ClusterID
	first, _, _ := strings.Cut(read(t, "api/testdata/original/restore.yaml"), "---")
	n.Apply(first)
	awaitRestored(n, c.name) // logs how long it took; BenchmarkRestoreNextToCreate has the limit
	c.awaitReady()
	if after := c.get().Status.ClusterID; after == before {
		t.Error("the cluster is the same as before the restore")
	}
	c.mustHave(30)
}

// The walkthrough's manifest to the letter: what it asks for cannot be pulled here, nor by today's container runtimes.
func playMissingImage(t *testing.T) {
	t.Parallel()
	n := takeover(t, "original/etcd-operator.yaml")
	n.Kubectl("apply", "-f", "test/api/testdata/original/cluster.yaml")
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
	if found := c.awaitReason("ImageNotAvailable"); !strings.Contains(found.Message, "quay.io/coreos/etcd:v3.2.13") {
		t.Errorf("the condition says %q", found.Message)
	}
	c.patch(`{"version":"` + oldestEtcd + `"}`)
	c.awaitReady()
}

func playPodPolicy(t *testing.T) {
	t.Parallel()
	n := takeover(t, "original/etcd-operator.yaml")
	n.Kubectl("label", "nodes", "--all", "diskType=ssd", "--overwrite")
	n.Apply(read(t, "api/testdata/original/cluster-pod-policy.yaml"))
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
	c.awaitReady()
	for name, pod := range c.pods() {
		etcd := pod.Spec.Containers[0]
		for want, got := range map[string]string{
			"storage": pod.Labels["team"], "2379": pod.Annotations["prometheus.io/port"], "ssd": pod.Spec.NodeSelector["diskType"], "busybox:1.28.0-glibc": pod.Spec.InitContainers[0].Image,
			"1": envOf(&etcd, "ETCD_AUTO_COMPACTION_RETENTION"), "377487360": envOf(&etcd, "GOMEMLIMIT"), "400Mi": etcd.Resources.Limits.Memory().String(),
		} {
			if got != want {
				t.Errorf("pod %s has %q where the manifest wants %q", name, got, want)
			}
		}
		if user := pod.Spec.SecurityContext.RunAsUser; user == nil || *user != 9000 {
			t.Errorf("pod %s runs as %v", name, user)
		}
	}
}

func envOf(c *corev1.Container, name string) string {
	i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name })
	if i < 0 {
		return ""
	}
	return c.Env[i].Value
}

func playVolumes(t *testing.T) {
	t.Parallel()
	n := takeover(t, "original/etcd-operator.yaml")
	n.Apply("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: standard}\nprovisioner: " + volumes.Provisioner + "\nvolumeBindingMode: WaitForFirstConsumer\n")
	n.Apply(read(t, "api/testdata/original/cluster-pvc.yaml"))
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster-with-pv"}
	c.awaitReady()
	for name, pod := range c.pods() {
		if claim := pod.Spec.Volumes[0].PersistentVolumeClaim; claim == nil || claim.ClaimName != name {
			t.Errorf("the data of pod %s is in %+v", name, pod.Spec.Volumes[0].VolumeSource)
		}
	}
}

func playTLS(t *testing.T) {
	t.Parallel()
	n := takeover(t, "original/etcd-operator.yaml")
	a := newAuthority(n, "example")
	a.secret("etcd-peer-tls", "peer.crt", "peer.key", "peer-ca.crt", a.peer()...)
	a.secret("etcd-server-tls", "server.crt", "server.key", "server-ca.crt", a.server()...)
	a.secret("etcd-client-tls", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator")
	n.Apply(read(t, "api/testdata/original/cluster-tls.yaml"))
	c := &etcdCluster{Tenant: n, name: "example", tls: a.config()}
	c.awaitReady()
	c.fill(20)
	c.mustHave(20)
}

func playFork(t *testing.T) {
	t.Parallel()
	n := takeover(t, "fork/etcd-operator.yaml")
	n.Apply(read(t, "api/testdata/fork/cluster.yaml"))
	c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
	c.awaitReady()
	status := c.get().Status
	if status.ServiceName != "my-etcd" || status.MinAvailable != 2 || status.CurrentVersion != "3.6.10" {
		t.Errorf("the status is %+v", status)
	}
	for name, pod := range c.pods() {
		data := pod.Spec.Volumes[0].EmptyDir
		if pod.Spec.Containers[0].Image != "gcr.io/etcd-development/etcd:v3.6.10" || pod.Spec.PriorityClassName != "system-cluster-critical" || data == nil || data.Medium != corev1.StorageMediumMemory {
			t.Errorf("pod %s is %+v", name, pod.Spec)
		}
	}
}
