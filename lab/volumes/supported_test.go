// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestClaimsThatAFolderCannotServeAreRefusedWithTheReason(t *testing.T) {
	tests := []struct {
		name  string
		claim corev1.PersistentVolumeClaimSpec
		class func(*storagev1.StorageClass)
		want  string
	}{
		{name: "plain"},
		{name: "read write once pod", claim: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}}},
		{
			name: "shared", claim: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}},
			want: "not ReadWriteMany",
		},
		{name: "block", claim: corev1.PersistentVolumeClaimSpec{VolumeMode: ptr.To(corev1.PersistentVolumeBlock)}, want: "no block volumes"},
		{name: "selector", claim: corev1.PersistentVolumeClaimSpec{Selector: &metav1.LabelSelector{}}, want: "without selector"},
		{name: "clone", claim: corev1.PersistentVolumeClaimSpec{DataSource: &corev1.TypedLocalObjectReference{}}, want: "data source"},
		{
			name: "immediate", class: func(c *storagev1.StorageClass) { c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingImmediate) },
			want: "WaitForFirstConsumer",
		},
		{name: "immediate by default", class: func(c *storagev1.StorageClass) { c.VolumeBindingMode = nil }, want: "WaitForFirstConsumer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			class := defaultClass()
			if tt.class != nil {
				tt.class(class)
			}
			err := supported(&corev1.PersistentVolumeClaim{Spec: tt.claim}, class)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}
