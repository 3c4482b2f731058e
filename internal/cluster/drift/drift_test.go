// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package drift_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

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

// everything is a spec in which each part that the rules look at is set.
func everything(c *v1beta2.EtcdCluster) {
	c.Spec.Version = "v3.5.35"
	c.Spec.StorageQuota = ptr.To(resource.MustParse("3Gi"))
	c.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "etcd-peer-tls", ServerSecret: "etcd-server-tls"}, OperatorSecret: "etcd-client-tls",
	}}
	c.Spec.Pod = &v1beta2.PodPolicy{
		Labels:       map[string]string{"team": "db", "etcd_node": "not mine to set"},
		Annotations:  map[string]string{"prometheus.io/scrape": "true", "etcd.version": "not mine to set"},
		NodeSelector: map[string]string{"disk": "fast"}, AntiAffinity: true, PriorityClassName: "high",
		Resources:        corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		Tolerations:      []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
		EtcdEnv:          []corev1.EnvVar{{Name: "ETCD_AUTO_COMPACTION_RETENTION", Value: "1"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}, ServiceAccountName: "etcd", RuntimeClassName: "gvisor",
		TerminationGracePeriodSeconds: ptr.To(int64(30)), HostAliases: []corev1.HostAlias{{IP: "10.1.2.3", Hostnames: []string{"mirror.example.com"}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}},
	}
}

func podOf(c *v1beta2.EtcdCluster) *corev1.Pod {
	return manifests.MemberPod(c, manifests.Start{
		Member: "example-b", HelperImage: "operator:dev",
		Peers: []manifests.Peer{{Name: "example-b", URL: manifests.PeerURL(c, "example-b")}},
	})
}

func TestAChangeOfTheOperatorAloneReplacesNoPod(t *testing.T) {
	c := example(everything)
	pod := podOf(c)
	pod.Spec.InitContainers[0].Image = "operator:older"
	if drift.NeedsReplacing(c, pod) || drift.NeedsImage(c, manifests.Defaults{}, pod) || drift.NeedsResources(c, pod) || drift.AdjustMetadata(c, pod) {
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
	pod := podOf(c)
	rewrite(pod)
	if drift.NeedsImage(c, manifests.Defaults{}, pod) {
		t.Error("what admission made of the image counts as another one")
	}
	c.Spec.Version = "3.6.16"
	if !drift.NeedsImage(c, manifests.Defaults{}, pod) {
		t.Error("a new version is not seen")
	}
	drift.SetImage(c, manifests.Defaults{}, pod)
	rewrite(pod)
	if drift.NeedsImage(c, manifests.Defaults{}, pod) {
		t.Error("what admission made of the changed image counts as another one")
	}
}

func TestAnotherDefaultOfTheOperatorReachesOnlyPodsThatWaitForAnImage(t *testing.T) {
	waiting := func(container string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			status := corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}
			if container == manifests.ContainerEtcd {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
			} else {
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{status}
			}
		}
	}
	mirror := manifests.Defaults{Repository: "mirror/etcd", PullSecrets: []string{"mirror"}}
	other := manifests.Defaults{Repository: "other/etcd", PullSecrets: []string{"other", "mirror"}}
	named := func(c *v1beta2.EtcdCluster) {
		c.Spec.Repository, c.Spec.Pod = "mine/etcd", &v1beta2.PodPolicy{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "mine"}}}
	}
	for name, tc := range map[string]struct {
		spec       func(*v1beta2.EtcdCluster)
		given, now manifests.Defaults
		pod        func(*corev1.Pod)
		change     func(*v1beta2.EtcdCluster)

		image, secrets bool
	}{
		"the flag is set":                     {now: mirror},
		"the flag is changed":                 {given: mirror, now: other},
		"the flag is removed":                 {given: mirror},
		"nothing changes":                     {given: mirror, now: mirror, pod: waiting("etcd")},
		"a pod waits for etcd":                {now: mirror, pod: waiting("etcd"), image: true, secrets: true},
		"a pod waits for etcd, again":         {given: mirror, now: other, pod: waiting("etcd"), image: true, secrets: true},
		"a pod waits for the helper":          {given: mirror, now: other, pod: waiting("check-dns"), secrets: true},
		"a pod waits to restore data":         {given: mirror, now: other, pod: waiting(manifests.ContainerRestore), image: true, secrets: true},
		"the spec names both":                 {spec: named, given: mirror, now: other, pod: waiting("etcd")},
		"the spec names a repository now":     {given: mirror, now: mirror, change: func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "mine/etcd" }, image: true},
		"the spec names no repository now":    {spec: named, given: mirror, now: mirror, change: func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "" }, image: true},
		"the version changes, and the flag":   {given: mirror, now: other, change: func(c *v1beta2.EtcdCluster) { c.Spec.Version = "3.6.17" }, image: true},
		"the spec names the former default":   {given: mirror, now: other, change: func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "mirror/etcd" }},
		"the spec names what it got from us":  {given: mirror, now: mirror, change: func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "mirror/etcd" }},
		"the default is that of all releases": {given: manifests.Defaults{Repository: v1beta2.DefaultRepository}, now: manifests.Defaults{}, pod: waiting("etcd")},
	} {
		t.Run(name, func(t *testing.T) {
			c := example(tc.spec)
			pod := manifests.MemberPod(c, manifests.Start{Member: "example-b", HelperImage: "operator:dev", Defaults: tc.given})
			if tc.pod != nil {
				tc.pod(pod)
			}
			if tc.change != nil {
				tc.change(c)
			}
			if got := drift.NeedsImage(c, tc.now, pod); got != tc.image {
				t.Errorf("NeedsImage = %v, want %v", got, tc.image)
			}
			if got := drift.WaitsForOtherPullSecrets(c, tc.now, pod); got != tc.secrets {
				t.Errorf("WaitsForOtherPullSecrets = %v, want %v", got, tc.secrets)
			}
			if drift.NeedsReplacing(c, pod) {
				t.Error("another default counts as another spec")
			}
			drift.SetImage(c, tc.now, pod)
			if got := manifests.PodImage(pod); got != tc.now.Image(c) || drift.NeedsImage(c, tc.now, pod) {
				t.Errorf("the pod was changed to %s, want %s", got, tc.now.Image(c))
			}
			if got := drift.WaitsForOtherPullSecrets(c, tc.now, pod); got != tc.secrets {
				t.Errorf("another image changes with which Secrets the pod was created")
			}
		})
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
		"pull secrets":  {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.ImagePullSecrets = nil }, replace: true},
		"account":       {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.ServiceAccountName = "" }, replace: true},
		"runtime class": {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.RuntimeClassName = "" }, replace: true},
		"grace period":  {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.TerminationGracePeriodSeconds = nil }, replace: true},
		"spread":        {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.TopologySpreadConstraints = nil }, replace: true},
		"host aliases":  {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.HostAliases = nil }, replace: true},
		"security":      {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{} }, replace: true},
		"a TLS secret":  {change: func(c *v1beta2.EtcdCluster) { c.Spec.TLS.Static.Member.PeerSecret = "other" }, replace: true},
		"resources": {change: func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("200m")
		}, resources: true},
		"new label":      {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.Labels["new"] = "yes" }, metadata: true},
		"label gone":     {change: func(c *v1beta2.EtcdCluster) { delete(c.Spec.Pod.Labels, "team") }, metadata: true},
		"new annotation": {change: func(c *v1beta2.EtcdCluster) { c.Spec.Pod.Annotations["new"] = "yes" }, metadata: true},
		"quota":          {change: func(c *v1beta2.EtcdCluster) { c.Spec.StorageQuota = ptr.To(resource.MustParse("4Gi")) }, replace: true},
		"nothing":        {change: func(*v1beta2.EtcdCluster) {}},
	} {
		t.Run(name, func(t *testing.T) {
			before := example(everything)
			pod := podOf(before)
			after := example(everything)
			tc.change(after)
			if got := drift.NeedsReplacing(after, pod); got != tc.replace {
				t.Errorf("NeedsReplacing = %v, want %v", got, tc.replace)
			}
			if got := drift.NeedsImage(after, manifests.Defaults{}, pod); got != tc.image {
				t.Errorf("NeedsImage = %v, want %v", got, tc.image)
			}
			if got := drift.NeedsResources(after, pod); got != tc.resources {
				t.Errorf("NeedsResources = %v, want %v", got, tc.resources)
			}
			if got := drift.AdjustMetadata(after, pod); got != tc.metadata {
				t.Errorf("AdjustMetadata = %v, want %v", got, tc.metadata)
			}
			if drift.AdjustMetadata(after, pod) {
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
		pod := podOf(c)
		c.Spec.Pod.Resources.Limits = list(tc.name, "8")
		if got := drift.CanResize(c, pod); got != tc.want {
			t.Errorf("another %s: CanResize = %v, want %v", tc.name, got, tc.want)
		}
		c.Spec.Pod.Resources = corev1.ResourceRequirements{Requests: list(tc.name, "2"), Limits: list(tc.name, "4")}
		c.Spec.Pod.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("500m")
		if !drift.CanResize(c, pod) {
			t.Errorf("another CPU beside %s cannot be resized", tc.name)
		}
	}
}

// A limit that etcd was told at its start follows the container's only in a new pod. Pods that were told none, as those of
// earlier releases, are resized in place.
func TestAnotherMemoryLimitReachesEtcd(t *testing.T) {
	memory := func(limit string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Mi")}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
		}
	}
	own := []corev1.EnvVar{{Name: manifests.EnvMemoryLimit, Value: "500MiB"}}
	for name, tc := range map[string]struct {
		env       []corev1.EnvVar
		ofEarlier bool
		limit     string
		want      bool
	}{
		"the limit changes":                {limit: "2Gi"},
		"the limit stays":                  {limit: "1Gi", want: true},
		"the user tells etcd":              {env: own, limit: "2Gi", want: true},
		"a pod of an earlier release":      {ofEarlier: true, limit: "2Gi", want: true},
		"a limit too small to tell of now": {limit: "32Mi"},
	} {
		c := example(func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod = &v1beta2.PodPolicy{Resources: memory("1Gi"), EtcdEnv: tc.env}
		})
		pod := podOf(c)
		if tc.ofEarlier {
			pod.Spec.Containers[0].Env = nil
		}
		if drift.NeedsReplacing(c, pod) || drift.NeedsResources(c, pod) {
			t.Errorf("%s: the pod of an unchanged spec counts as outdated", name)
		}
		c.Spec.Pod.Resources = memory(tc.limit)
		c.Spec.Pod.Resources.Requests[corev1.ResourceMemory] = resource.MustParse("20Mi")
		if got := drift.CanResize(c, pod); got != tc.want {
			t.Errorf("%s: CanResize = %t, want %t", name, got, tc.want)
		}
	}
}

func TestALabelTakenOutOfTheSpecIsTakenOffThePod(t *testing.T) {
	c := example(everything)
	pod := podOf(c)
	pod.Labels["put-on-by"] = "someone else"
	delete(c.Spec.Pod.Labels, "team")
	drift.AdjustMetadata(c, pod)
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
	if drift.NeedsReplacing(c, pod) || drift.NeedsResources(c, pod) {
		t.Error("an adopted pod counts as outdated")
	}
	if !drift.AdjustMetadata(c, pod) || drift.NeedsReplacing(c, pod) || drift.NeedsResources(c, pod) {
		t.Error("a marked adopted pod counts as outdated")
	}
}

func TestAClaimGoesWithTheClusterOrOutlivesItAsTheSpecAsks(t *testing.T) {
	volumes := func(policy v1beta2.DeletionPolicy) *v1beta2.EtcdCluster {
		return example(func(c *v1beta2.EtcdCluster) {
			c.Spec.DeletionPolicy = policy
			c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}
		})
	}
	for _, from := range []v1beta2.DeletionPolicy{v1beta2.DeletionPolicyDelete, v1beta2.DeletionPolicyRetain} {
		for _, to := range []v1beta2.DeletionPolicy{v1beta2.DeletionPolicyDelete, v1beta2.DeletionPolicyRetain} {
			claim := manifests.Claim(volumes(from), "example-a")
			if changed := drift.AdjustOwner(volumes(to), claim); changed != (from != to) {
				t.Errorf("from %s to %s: changed is %t", from, to, changed)
			}
			if owned := len(claim.OwnerReferences) == 1; owned != (to == v1beta2.DeletionPolicyDelete) {
				t.Errorf("from %s to %s: the owners are %v", from, to, claim.OwnerReferences)
			}
			if _, noted := claim.Annotations[manifests.AnnotationClusterUID]; noted != (to == v1beta2.DeletionPolicyRetain) {
				t.Errorf("from %s to %s: the annotations are %v", from, to, claim.Annotations)
			}
		}
	}
}
