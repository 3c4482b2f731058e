// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package crdinstall

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/crd"
)

// definition makes a small definition of ours at a revision, and lets the caller change it.
func definition(revision string, change ...func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com", Annotations: map[string]string{crd.AnnotationRevision: revision}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta2", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Description: "ours"},
				},
			}},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
		},
	}
	for _, c := range change {
		c(d)
	}
	return d
}

func TestUpgradeKeepsADefinitionThatIsInPlaceOrNewer(t *testing.T) {
	tests := map[string]struct {
		existing *apiextensionsv1.CustomResourceDefinition
		verdict  string
	}{
		"the same": {
			existing: definition("3"),
			verdict:  "The CRD is up to date",
		},
		"the same, with labels and annotations of others": {
			existing: definition("3", func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Labels = map[string]string{"team": "db"}
				d.Annotations["note"] = "hands off"
			}),
			verdict: "The CRD is up to date",
		},
		"of a newer release": {
			existing: definition("4", func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "newer"
			}),
			verdict: "The CRD is of a newer release (revision 4, ours is 3) and is kept",
		},
		"of a much newer release: revisions are numbers, not strings": {
			existing: definition("10"),
			verdict:  "The CRD is of a newer release (revision 10, ours is 3) and is kept",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			next, verdict, err := upgrade(tc.existing, definition("3"))
			if err != nil {
				t.Fatal(err)
			}
			if next != nil {
				t.Errorf("it would be written: %s", cmp.Diff(tc.existing, next))
			}
			if verdict != tc.verdict {
				t.Errorf("verdict %q, want %q", verdict, tc.verdict)
			}
		})
	}
}

func TestUpgradeReplacesTheSpecAndKeepsWhatIsNotOurs(t *testing.T) {
	loose := func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Spec.PreserveUnknownFields = true
		d.Spec.Versions[0].Schema = nil
	}
	tests := map[string]struct {
		existing *apiextensionsv1.CustomResourceDefinition
		want     *apiextensionsv1.CustomResourceDefinition
		verdict  string
	}{
		"of an older release": {
			existing: definition("2", func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "older"
			}),
			want:    definition("3"),
			verdict: "Upgraded the CRD from revision 2 to 3",
		},
		"of the same release, changed by hand": {
			existing: definition("3", loose),
			want:     definition("3"),
			verdict:  "Restored the CRD of revision 3, which had been changed",
		},
		"of somebody else, with metadata of its own": {
			existing: definition("", loose, func(d *apiextensionsv1.CustomResourceDefinition) {
				d.ResourceVersion = "17"
				d.Labels = map[string]string{"team": "db"}
				d.Annotations = map[string]string{"note": "hands off"}
			}),
			want: definition("3", func(d *apiextensionsv1.CustomResourceDefinition) {
				d.ResourceVersion = "17"
				d.Labels = map[string]string{"team": "db"}
				d.Annotations["note"] = "hands off"
			}),
			verdict: "Took over the CRD of another etcd-operator, at revision 3",
		},
		"of somebody else, without annotations": {
			existing: definition("", loose, func(d *apiextensionsv1.CustomResourceDefinition) { d.Annotations = nil }),
			want:     definition("3"),
			verdict:  "Took over the CRD of another etcd-operator, at revision 3",
		},
		"with a version in which objects may be stored": {
			existing: definition("", loose, func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Spec.Versions[0].Storage = false
				d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
					Name: "v1beta1", Served: true, Storage: true,
				})
				d.Spec.Conversion.Strategy = apiextensionsv1.WebhookConverter
			}),
			want: definition("3", func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
					Name: "v1beta1", Served: true, Storage: false, Schema: anything(),
				})
				d.Spec.Conversion.Strategy = apiextensionsv1.WebhookConverter
			}),
			verdict: "Took over the CRD of another etcd-operator, at revision 3",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := tc.existing.DeepCopy()
			next, verdict, err := upgrade(tc.existing, definition("3"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, next); diff != "" {
				t.Errorf("unexpected definition (-want +got):\n%s", diff)
			}
			if verdict != tc.verdict {
				t.Errorf("verdict %q, want %q", verdict, tc.verdict)
			}
			if diff := cmp.Diff(before, tc.existing); diff != "" {
				t.Errorf("the existing definition was changed in place (-before +after):\n%s", diff)
			}
		})
	}
}

func TestUpgradeRefusesWhatCannotWork(t *testing.T) {
	newer := definition("4", func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Served = false })
	if _, _, err := upgrade(newer, definition("3")); err == nil || !strings.Contains(err.Error(), "version v1beta2 is no longer served") {
		t.Errorf("a newer definition that does not serve our version: got error %v", err)
	}
	if _, _, err := upgrade(definition("1"), definition("none")); err == nil || !strings.Contains(err.Error(), crd.AnnotationRevision) {
		t.Errorf("a definition of ours without a revision: got error %v", err)
	}
}

func TestOurDefinitionsCarryARevision(t *testing.T) {
	for _, d := range crd.All() {
		if n, ok := revision(d); !ok || n < 1 {
			t.Errorf("%s: annotation %s is %q, want a whole number from 1 on", d.Name, crd.AnnotationRevision, d.Annotations[crd.AnnotationRevision])
		}
	}
}
