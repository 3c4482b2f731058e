// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make it with go test ./internal/cluster/manifests -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func example(change func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	c := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "example", Namespace: "ns", UID: "uid-1"},
		Spec:       v1beta2.ClusterSpec{Size: 3, Version: "3.6.16"},
	}
	if change != nil {
		change(c)
	}
	return c
}

func everything(c *v1beta2.EtcdCluster) {
	c.Spec.Repository = "gcr.io/etcd-development/etcd"
	c.Spec.Version = "v3.5.35"
	c.Spec.StorageQuota = ptr.To(resource.MustParse("3Gi"))
	c.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "etcd-peer-tls", ServerSecret: "etcd-server-tls"}, OperatorSecret: "etcd-client-tls",
	}}
	c.Spec.Pod = &v1beta2.PodPolicy{
		Labels:       map[string]string{"team": "db", "etcd_node": "not mine to set"},
		Annotations:  map[string]string{"prometheus.io/scrape": "true", "etcd.version": "not mine to set"},
		NodeSelector: map[string]string{"disk": "fast"}, AntiAffinity: true, PriorityClassName: "high",
		Resources:                 corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		Tolerations:               []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
		EtcdEnv:                   []corev1.EnvVar{{Name: "ETCD_AUTO_COMPACTION_RETENTION", Value: "1"}},
		PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
		DNSTimeoutInSecond:        30, ClusterDomain: ".cluster.local",
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}, ServiceAccountName: "etcd", RuntimeClassName: "gvisor",
		TerminationGracePeriodSeconds: ptr.To(int64(30)), HostAliases: []corev1.HostAlias{{IP: "10.1.2.3", Hostnames: []string{"mirror.example.com"}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}},
	}
	c.Spec.Service = &v1beta2.ServicePolicy{Annotations: map[string]string{"team": "db"}}
}

func seedOf(c *v1beta2.EtcdCluster) manifests.Start {
	return manifests.Start{
		Member: "example-seed", Token: "11111111-2222-3333-4444-555555555555", HelperImage: "operator:dev",
		Peers: []manifests.Peer{{Name: "example-seed", URL: manifests.PeerURL(c, "example-seed")}}, Restore: restoreOf(c),
	}
}

func restoredBy(from *v1beta2.BootstrapRestore) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) { c.Status.Bootstrap = &v1beta2.BootstrapStatus{Restore: from} }
}

func restoreOf(c *v1beta2.EtcdCluster) *v1beta2.BootstrapRestore {
	if c.Status.Bootstrap == nil {
		return nil
	}
	return c.Status.Bootstrap.Restore
}

func joinerOf(c *v1beta2.EtcdCluster) manifests.Start {
	return manifests.Start{
		Member: "example-b", HelperImage: "operator:dev", Before: []string{"example-seed"},
		Peers: []manifests.Peer{
			{Name: "example-b", URL: manifests.PeerURL(c, "example-b")},
			{Name: "example-seed", URL: manifests.PeerURL(c, "example-seed")},
		},
		SecretKeys: func(name string) []string {
			if name == "etcd-peer-tls" { // this one is of type kubernetes.io/tls
				return []string{"ca.crt", "tls.crt", "tls.key"}
			}
			return []string{"server-ca.crt", "server.crt", "server.key"}
		},
	}
}

// withDefaults is a start by an operator with flags for what the spec does not say.
func withDefaults(s manifests.Start) manifests.Start {
	s.Defaults = manifests.Defaults{Repository: "registry.example.com/etcd", PullSecrets: []string{"registry-credentials"}}
	return s
}

// assigned is a start on a platform that gives pods their user.
func assigned(s manifests.Start) manifests.Start {
	s.AssignsUsers = true
	return s
}

func bySnapshot(s manifests.Start) manifests.Start {
	s.BySnapshot = true
	return s
}

func TestObjectsAreExactlyThese(t *testing.T) {
	plain, full := example(nil), example(everything)
	busybox := example(func(c *v1beta2.EtcdCluster) {
		c.Spec.Version = "3.2.13"
		c.Spec.Pod = &v1beta2.PodPolicy{BusyboxImage: "busybox:1.28.0-glibc", DNSTimeoutInSecond: 10, Tmpfs: true}
	})
	restored, fromMember := example(restoredBy(&v1beta2.BootstrapRestore{
		UID: "uid-of-restore", Name: "again", Secret: "again-ticket", URL: "https://etcd-restore-operator.ns.svc:19999/v1/again", Size: 12345,
		SHA256: "ab12", RevisionBump: 1000000,
	})), example(restoredBy(&v1beta2.BootstrapRestore{UID: "survivor-x", Member: "example-b"}))
	everything(fromMember)
	ipv6 := seedOf(plain)
	ipv6.IPv6 = true
	for name, object := range map[string]any{
		"seed":               manifests.MemberPod(plain, seedOf(plain)),
		"seed-ipv6":          manifests.MemberPod(plain, ipv6),
		"seed-restored":      manifests.MemberPod(restored, seedOf(restored)),
		"seed-of-survivor":   manifests.MemberPod(fromMember, seedOf(fromMember)),
		"claim-restored":     manifests.Claim(fromMember, "example-seed"),
		"joiner-restored":    manifests.MemberPod(restored, joinerOf(restored)),
		"joiner-openshift":   manifests.MemberPod(plain, assigned(joinerOf(plain))),
		"joiner-defaults":    manifests.MemberPod(plain, withDefaults(joinerOf(plain))),
		"joiner":             manifests.MemberPod(plain, joinerOf(plain)),
		"joiner-everything":  manifests.MemberPod(full, withDefaults(joinerOf(full))), // whose spec says both
		"joiner-by-snapshot": manifests.MemberPod(full, bySnapshot(joinerOf(full))),
		"joiner-busybox":     manifests.MemberPod(busybox, bySnapshot(joinerOf(busybox))),
		"seed-busybox-3.2":   manifests.MemberPod(busybox, seedOf(busybox)),
		"peer-service":       manifests.PeerService(plain),
		"client-service":     manifests.ClientService(plain),
		"client-service-named": manifests.ClientService(example(func(c *v1beta2.EtcdCluster) {
			c.Spec.Service = &v1beta2.ServicePolicy{Name: "db", Selector: map[string]string{"a": "b"}}
		})),
		"budget": manifests.Budget(plain, 2),
		"network-policy": manifests.NetworkPolicy(example(func(c *v1beta2.EtcdCluster) { c.Spec.NetworkPolicy = &v1beta2.NetworkPolicy{} }),
			manifests.OperatorPeers("operators", map[string]string{"name": "etcd-operator", "pod-template-hash": "x"})),
		"network-policy-clients": manifests.NetworkPolicy(example(func(c *v1beta2.EtcdCluster) {
			monitoring := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "monitoring"}}
			c.Spec.NetworkPolicy = &v1beta2.NetworkPolicy{
				Clients: []v1beta2.NetworkPeer{
					{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"role": "client"}}}, {IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8"}},
				},
				Metrics: []v1beta2.NetworkPeer{{NamespaceSelector: monitoring}},
			}
		}), nil),
		"claim":          manifests.Claim(full, "example-b"),
		"claim-retained": manifests.Claim(example(func(c *v1beta2.EtcdCluster) { everything(c); c.Spec.DeletionPolicy = v1beta2.DeletionPolicyRetain }), "example-b"),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, object) })
	}
}

func TestDrainsGoOneByOneAndNeverTakeTheQuorum(t *testing.T) {
	for _, c := range []struct{ size, voters, want int }{
		{1, 1, 1},
		{2, 2, 2},
		{3, 3, 2},
		{5, 5, 4},
		{7, 7, 6},
		{3, 1, 2}, // growing: anchored to what is asked for
		{3, 2, 2}, // one was drained: the bar stays
		{3, 5, 4}, // shrinking: anchored to what is there
	} {
		if got := manifests.MinAvailable(c.size, c.voters); got != c.want {
			t.Errorf("MinAvailable(%d, %d) = %d, want %d", c.size, c.voters, got, c.want)
		}
	}
}

func TestAClaimWithoutAccessModesIsOneThatKubernetesTakes(t *testing.T) {
	for _, tc := range []struct {
		have, want []corev1.PersistentVolumeAccessMode
	}{
		{nil, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
		{[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}},
	} {
		c := example(func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{AccessModes: tc.have}}
		})
		if diff := cmp.Diff(tc.want, manifests.Claim(c, "example-a").Spec.AccessModes); diff != "" {
			t.Errorf("access modes (-want +got):\n%s", diff)
		}
	}
}

func TestAKeptVolumeIsNobodysAnyMore(t *testing.T) {
	for _, policy := range []v1beta2.DeletionPolicy{v1beta2.DeletionPolicyDelete, v1beta2.DeletionPolicyRetain} {
		c := example(everything)
		c.Spec.DeletionPolicy = policy
		claim := manifests.Claim(c, "example-b")
		claim.Labels["put-on-by"] = "someone else"
		c.Status.Bootstrap = &v1beta2.BootstrapStatus{Restore: &v1beta2.BootstrapRestore{UID: "u", Name: "again"}}
		manifests.Keep(c, claim)
		want := metav1.ObjectMeta{
			Name: "example-b", Namespace: "ns", Labels: map[string]string{"put-on-by": "someone else"},
			Annotations: map[string]string{manifests.AnnotationKept: "again"}, OwnerReferences: []metav1.OwnerReference{},
		}
		if diff := cmp.Diff(want, claim.ObjectMeta, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("deletionPolicy %s (-want +got):\n%s", policy, diff)
		}
	}
}

func TestAnnotationsOfTheOperatorAreNotTheSpecs(t *testing.T) {
	c := example(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{Annotations: map[string]string{
			manifests.AnnotationMemberID: "1", manifests.AnnotationRestarting: "a", manifests.AnnotationStart: "now", "team": "blue",
		}}
	})
	pod := manifests.MemberPod(c, manifests.Start{Member: "example-a"})
	for _, name := range []string{manifests.AnnotationMemberID, manifests.AnnotationRestarting, manifests.AnnotationStart} {
		if value, ok := pod.Annotations[name]; ok {
			t.Errorf("a new pod has the annotation %s=%s", name, value)
		}
	}
	if pod.Annotations["team"] != "blue" {
		t.Errorf("the annotations are %v", pod.Annotations)
	}
}
