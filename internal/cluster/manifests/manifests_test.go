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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
		"joiner":             manifests.MemberPod(plain, joinerOf(plain)),
		"joiner-everything":  manifests.MemberPod(full, joinerOf(full)),
		"joiner-by-snapshot": manifests.MemberPod(full, bySnapshot(joinerOf(full))),
		"joiner-busybox":     manifests.MemberPod(busybox, bySnapshot(joinerOf(busybox))),
		"seed-busybox-3.2":   manifests.MemberPod(busybox, seedOf(busybox)),
		"peer-service":       manifests.PeerService(plain),
		"client-service":     manifests.ClientService(plain),
		"client-service-named": manifests.ClientService(example(func(c *v1beta2.EtcdCluster) {
			c.Spec.Service = &v1beta2.ServicePolicy{Name: "db", Selector: map[string]string{"a": "b"}}
		})),
		"budget":         manifests.Budget(plain, 2),
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

func TestAChangeOfTheOperatorAloneReplacesNoPod(t *testing.T) {
	c := example(everything)
	pod := manifests.MemberPod(c, joinerOf(c))
	pod.Spec.InitContainers[0].Image = "operator:older"
	if manifests.NeedsReplacing(c, pod) || manifests.NeedsImage(c, pod) || manifests.NeedsResources(c, pod) || manifests.AdjustMetadata(c, pod) {
		t.Error("a pod of an unchanged spec counts as outdated")
	}
}

func TestAnImageThatAdmissionRewroteIsTheSame(t *testing.T) {
	c := example(everything)
	rewrite := func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Image = "mirror.example.com/" + pod.Spec.Containers[i].Image + "@sha256:abc"
		}
	}
	pod := manifests.MemberPod(c, joinerOf(c))
	rewrite(pod)
	if manifests.NeedsImage(c, pod) {
		t.Error("what admission made of the image counts as another one")
	}
	c.Spec.Version = "3.6.16"
	if !manifests.NeedsImage(c, pod) {
		t.Error("a new version is not seen")
	}
	manifests.SetImage(c, pod)
	rewrite(pod)
	if manifests.NeedsImage(c, pod) {
		t.Error("what admission made of the changed image counts as another one")
	}
}

func TestEachChangeOfTheSpecIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		change                              func(*v1beta2.EtcdCluster)
		replace, image, resources, metadata bool
	}{
		"version":       {change: func(c *v1beta2.EtcdCluster) { c.Spec.Version = "3.6.16" }, image: true},
		"repository":    {change: func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "mirror/etcd" }, image: true},
		"environment":   {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.EtcdEnv = nil }, replace: true},
		"node selector": {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.NodeSelector = nil }, replace: true},
		"anti-affinity": {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.AntiAffinity = false }, replace: true},
		"tolerations":   {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.Tolerations = nil }, replace: true},
		"priority":      {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.PriorityClassName = "" }, replace: true},
		"security":      {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{} }, replace: true},
		"a TLS secret":  {change: func(c *v1beta2.EtcdCluster) { c.Spec.TLS.Static.Member.PeerSecret = "other" }, replace: true},
		"resources": {change: func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("200m")
		}, resources: true},
		"new label":      {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.Labels["new"] = "yes" }, metadata: true},
		"label gone":     {change: func(c *v1beta2.EtcdCluster) { delete(c.Spec.Pod.Labels, "team") }, metadata: true},
		"new annotation": {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.Annotations["new"] = "yes" }, metadata: true},
		"nothing":        {change: func(*v1beta2.EtcdCluster) {}},
	} {
		t.Run(name, func(t *testing.T) {
			before := example(everything)
			pod := manifests.MemberPod(before, joinerOf(before))
			after := example(everything)
			tc.change(after)
			if got := manifests.NeedsReplacing(after, pod); got != tc.replace {
				t.Errorf("NeedsReplacing = %v, want %v", got, tc.replace)
			}
			if got := manifests.NeedsImage(after, pod); got != tc.image {
				t.Errorf("NeedsImage = %v, want %v", got, tc.image)
			}
			if got := manifests.NeedsResources(after, pod); got != tc.resources {
				t.Errorf("NeedsResources = %v, want %v", got, tc.resources)
			}
			if got := manifests.AdjustMetadata(after, pod); got != tc.metadata {
				t.Errorf("AdjustMetadata = %v, want %v", got, tc.metadata)
			}
			if manifests.AdjustMetadata(after, pod) {
				t.Error("AdjustMetadata changes the pod a second time")
			}
		})
	}
}

func TestOnlyCPUAndMemoryAreResized(t *testing.T) {
	list := func(name corev1.ResourceName, quantity string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), name: resource.MustParse(quantity)}
	}
	for _, tc := range []struct {
		name corev1.ResourceName
		want bool
	}{
		{corev1.ResourceMemory, true},
		{corev1.ResourceEphemeralStorage, false},
		{"hugepages-2Mi", false},
		{"example.com/card", false},
	} {
		c := example(func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod = &v1beta2.PodPolicy{Resources: corev1.ResourceRequirements{Requests: list(tc.name, "2"), Limits: list(tc.name, "4")}}
		})
		pod := manifests.MemberPod(c, joinerOf(c))
		c.Spec.Pod.Resources.Limits = list(tc.name, "8")
		if got := manifests.CanResize(c, pod); got != tc.want {
			t.Errorf("another %s: CanResize = %v, want %v", tc.name, got, tc.want)
		}
		c.Spec.Pod.Resources = corev1.ResourceRequirements{Requests: list(tc.name, "2"), Limits: list(tc.name, "4")}
		c.Spec.Pod.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("500m")
		if !manifests.CanResize(c, pod) {
			t.Errorf("another CPU beside %s cannot be resized", tc.name)
		}
	}
}

func TestALabelTakenOutOfTheSpecIsTakenOffThePod(t *testing.T) {
	c := example(everything)
	pod := manifests.MemberPod(c, joinerOf(c))
	pod.Labels["put-on-by"] = "someone else"
	delete(c.Spec.Pod.Labels, "team")
	manifests.AdjustMetadata(c, pod)
	if _, there := pod.Labels["team"]; there {
		t.Error("the label is still there")
	}
	if pod.Labels["put-on-by"] == "" || pod.Labels["etcd_node"] != "example-b" {
		t.Errorf("labels that are not the spec's were touched: %v", pod.Labels)
	}
}

func TestAPodOfAnotherOperatorIsTakenAsItIs(t *testing.T) {
	c := example(everything)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "example-old", Labels: map[string]string{"app": "etcd"}}}
	if manifests.NeedsReplacing(c, pod) || manifests.NeedsResources(c, pod) {
		t.Error("an adopted pod counts as outdated")
	}
	if !manifests.AdjustMetadata(c, pod) || manifests.NeedsReplacing(c, pod) || manifests.NeedsResources(c, pod) {
		t.Error("a marked adopted pod counts as outdated")
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
