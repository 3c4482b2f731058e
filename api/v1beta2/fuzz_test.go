// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import "testing"

// The request of a restore stands in an annotation, which whoever may edit the cluster writes.
func FuzzRestoreRequest(f *testing.F) {
	f.Add(RestoreRequest{UID: "u", Name: "n", URL: "https://x", Size: 1}.String())
	f.Fuzz(func(t *testing.T, text string) {
		c := &EtcdCluster{}
		c.Annotations = map[string]string{AnnotationRestore: text}
		request, err := RestoreRequestOf(c)
		if err != nil {
			return
		}
		c.Annotations[AnnotationRestore] = request.String()
		if again, err := RestoreRequestOf(c); err != nil || again.UID != request.UID || again.SHA256 != request.SHA256 {
			t.Errorf("%q is read as %+v, and that as %+v, %v", text, request, again, err)
		}
	})
}
