// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Defaults are what the operator's flags give to members whose spec does not say. A pod carries those that it was given, so
// that another flag can be told from another spec: it must not restart every etcd there is.
type Defaults struct {
	// Repository is that of etcd's image; empty for v1beta2.DefaultRepository.
	Repository string `json:"repository,omitempty"`
	// PullSecrets are the names of the Secrets with which images are pulled.
	PullSecrets []string `json:"imagePullSecrets,omitempty"`
}

// Image is the image that the spec asks for, from the default repository where it names none.
func (d Defaults) Image(c *v1beta2.EtcdCluster) string {
	repository := c.Spec.Repository
	if repository == "" {
		repository = d.Repository
	}
	if repository == "" {
		repository = v1beta2.DefaultRepository
	}
	return repository + ":v" + Version(c)
}

// pullSecrets are those of the spec, or else the default ones.
func (d Defaults) pullSecrets(policy v1beta2.PodPolicy) []corev1.LocalObjectReference {
	if len(policy.ImagePullSecrets) > 0 {
		return policy.ImagePullSecrets
	}
	var secrets []corev1.LocalObjectReference
	for _, name := range d.PullSecrets {
		secrets = append(secrets, corev1.LocalObjectReference{Name: name})
	}
	return secrets
}

// note writes on a pod which of the defaults it was given; nothing where there were none.
func (d Defaults) note(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	if c.Spec.Repository != "" || d.Repository == v1beta2.DefaultRepository {
		d.Repository = ""
	}
	if len(PolicyOf(c).ImagePullSecrets) > 0 {
		d.PullSecrets = nil
	}
	if d.Repository == "" && len(d.PullSecrets) == 0 {
		delete(pod.Annotations, AnnotationDefaults)
		return
	}
	content, err := json.Marshal(d)
	if err != nil {
		panic("manifests: strings always encode: " + err.Error())
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, AnnotationDefaults, string(content))
}

// NoteImage writes on a pod that its image is that of these defaults. It keeps the Secrets that it was created with.
func (d Defaults) NoteImage(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	d.PullSecrets = DefaultsOf(pod).PullSecrets
	d.note(c, pod)
}

// DefaultsOf are the defaults that a pod was given; none where it does not say, or somebody else wrote that.
func DefaultsOf(pod *corev1.Pod) Defaults {
	var d Defaults
	if json.Unmarshal([]byte(pod.Annotations[AnnotationDefaults]), &d) != nil {
		return Defaults{}
	}
	return d
}
