// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// refusal is an error of a step that Kubernetes will not do, whoever asks again.
type refusal string

func (r refusal) Error() string { return string(r) }

// IsRefusal reports whether Kubernetes has answered a step with a refusal: by a quota, a policy, a webhook, or for want of a
// right. The step has not taken effect then, and others may. A write that got no answer, or met an API server that is
// overloaded, is no refusal.
func IsRefusal(step plan.Step, err error) bool {
	switch step.(type) {
	case plan.CreateObject, plan.PatchObject, plan.ResizePod, plan.DeleteObject:
	default:
		return false
	}
	if own := refusal(""); errors.As(err, &own) {
		return true
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonUnknown, metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests,
		metav1.StatusReasonServiceUnavailable, metav1.StatusReasonUnauthorized:
		return false
	}
	return true
}
