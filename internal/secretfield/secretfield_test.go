// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package secretfield_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/internal/secretfield"
)

// The original takes a gcpSecret that does not exist for the wish to use the identity of the pod. A mistyped name
// then is somebody else's identity.
func TestASecretThatIsNamedHasToExist(t *testing.T) {
	kube := fake.NewClientBuilder().WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "gcp"}, Data: map[string][]byte{"access-token": []byte("t")},
	}).Build()
	for name, test := range map[string]struct {
		secret, want, refused string
	}{
		"it exists":      {secret: "gcp", want: "t"},
		"none is named":  {},
		"it is mistyped": {secret: "gpc", refused: `secret "gpc", which gcs.gcpSecret names, does not exist in namespace "ns"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := secretfield.Read(t.Context(), kube, "ns", "gcs.gcpSecret", test.secret)
			if string(got["access-token"]) != test.want {
				t.Errorf("read %v", got)
			}
			if (err != nil) != (test.refused != "") || (err != nil && !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("error %v, want %q", err, test.refused)
			}
		})
	}
}
