// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestASpecIsKeptOnlyIfAllOfItIsUnderstood(t *testing.T) {
	if spec := (Facts{ClusterSpec: `{"size":5,"paused":true}`}).KeptSpec(); spec == nil || spec.Size != 5 || spec.Paused {
		t.Errorf("the kept spec is %+v", spec)
	}
	for _, text := range []string{"", "{", `{"size":5,"somethingNew":true}`, `{"size":3,"TLS":{"static":{"operatorSecret":"o"}}}`} {
		if spec := (Facts{ClusterSpec: text}).KeptSpec(); spec != nil {
			t.Errorf("%q is understood as %+v", text, spec)
		}
	}
}

// Whoever can write to the store would otherwise run what they like in the namespace of the restore, with its Secrets.
func TestNothingThatRunsCodeIsTakenFromABackup(t *testing.T) {
	hostile := `{"size":3,"version":"3.6.16","repository":"evil.example.com/etcd","pod":{"busyboxImage":"evil.example.com/box",
		"etcdEnv":[{"name":"X","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],"labels":{"app":"frontend"},"nodeSelector":{"a":"b"},
		"persistentVolumeClaimSpec":{"accessModes":["ReadWriteOnce"],"volumeName":"somebodys","dataSource":{"kind":"PersistentVolumeClaim","name":"others"},
		"resources":{"requests":{"storage":"1Gi"}}}},"service":{"annotations":{"a":"b"}},"recovery":{"mode":"Backup","backupName":"b"}}`
	want := &v1beta2.ClusterSpec{Size: 3, Version: "3.6.16", Pod: &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}}
	if diff := cmp.Diff(want, (Facts{ClusterSpec: hostile}).KeptSpec()); diff != "" {
		t.Errorf("taken over (-want +got):\n%s", diff)
	}
}
