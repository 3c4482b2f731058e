// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func TestWhatKubernetesRefuses(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"a label that is none":        func(p *corev1.Pod) { p.Labels = map[string]string{"bad key!": "a"} },
		"a class that does not exist": func(p *corev1.Pod) { p.Spec.PriorityClassName = "absent" },
		"a toleration of nothing":     func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{}} },
		"a request beyond the limit":  func(p *corev1.Pod) { p.Spec.Containers[0].Resources = resources("2Gi", "1Gi") },
		"a variable without a name":   func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{}} },
		"a policy that Kubernetes does not know": func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroupChangePolicy: ptr.To(corev1.PodFSGroupChangePolicy("x"))}
		},
		"an affinity to nothing": func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Image: "etcd", Resources: resources("1Gi", "2Gi")}}}}
			pod.Name = "p"
			_, c := newKube(t)
			refused := pod.DeepCopy()
			change(refused)
			if c.Create(t.Context(), refused) == nil {
				t.Error("it is accepted")
			}
			if err := c.Create(t.Context(), pod); err != nil {
				t.Errorf("a pod in order: %v", err)
			}
		})
	}
}

func resources(request, limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}
}
