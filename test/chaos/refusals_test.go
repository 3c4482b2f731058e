// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// exhaustQuota lets the API server refuse new objects of one kind.
func exhaustQuota(ctx context.Context, in *injector, _ *cluster) error {
	kinds := []corev1.ResourceName{"count/pods", "count/persistentvolumeclaims", "count/services", "count/poddisruptionbudgets.policy"}
	kind := kinds[in.random.IntN(len(kinds))]
	quotas := in.tenant.Kube.CoreV1().ResourceQuotas(in.tenant.Namespace)
	if !in.breaks("quota", in.between(3*time.Second, 15*time.Second), func(ctx context.Context) error {
		return ignoreNotFound(quotas.Delete(ctx, "chaos", metav1.DeleteOptions{}))
	}) {
		return errNotNow
	}
	_, err := quotas.Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "chaos"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{kind: resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	return err
}

// breakWebhook lets the API server ask somebody who does not answer about every write of one kind of object, and refuse it.
// What kubelets write, who delete pods that have ended, is refused as well.
func breakWebhook(ctx context.Context, in *injector, _ *cluster) error {
	rules := []admissionv1.Rule{
		{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"persistentvolumeclaims"}},
		{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
		{APIGroups: []string{"policy"}, APIVersions: []string{"v1"}, Resources: []string{"poddisruptionbudgets"}},
		{APIGroups: []string{"etcd.database.coreos.com"}, APIVersions: []string{"*"}, Resources: []string{"etcdclusters", "etcdclusters/status"}},
	}
	rule := rules[in.random.IntN(len(rules))]
	webhooks := in.tenant.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	name := "chaos." + in.tenant.Namespace + ".example.com"
	if !in.breaks("webhook", in.between(3*time.Second, 15*time.Second), func(ctx context.Context) error {
		return ignoreNotFound(webhooks.Delete(ctx, name, metav1.DeleteOptions{}))
	}) {
		return errNotNow
	}
	_, err := webhooks.Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:                    name,
			ClientConfig:            admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/nobody")},
			Rules:                   []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.OperationAll}, Rule: rule}},
			FailurePolicy:           ptr.To(admissionv1.Fail),
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: in.tenant.Namespace}},
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			TimeoutSeconds:          ptr.To[int32](1),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
