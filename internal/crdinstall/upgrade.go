// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package crdinstall

import (
	"fmt"
	"maps"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/etcd-operator/etcd-operator/api/crd"
)

// upgrade decides what to do with an existing CRD. It returns the CRD to write, or nil if the existing one is
// to be kept, and a sentence for the log.
func upgrade(existing, ours *apiextensionsv1.CustomResourceDefinition) (
	next *apiextensionsv1.CustomResourceDefinition, verdict string, err error,
) {
	was, marked := revision(existing)
	is, ok := revision(ours)
	if !ok {
		return nil, "", fmt.Errorf("the CRD %s has no annotation %s", ours.Name, crd.AnnotationRevision)
	}
	if marked && was > is {
		// The older schema does not know the newer fields: with it, the API server would drop them from
		// every object that is written.
		if missing := firstUnserved(existing, ours); missing != "" {
			return nil, "", fmt.Errorf("a newer release has installed the CRD, and its version %s is no longer "+
				"served: run an operator of that release", missing)
		}
		return nil, fmt.Sprintf("The CRD is of a newer release (revision %d, ours is %d) and is kept", was, is), nil
	}

	next = merge(existing, ours)
	if equality.Semantic.DeepEqual(existing.Spec, next.Spec) && maps.Equal(existing.Annotations, next.Annotations) {
		return nil, "The CRD is up to date", nil
	}
	switch {
	case !marked:
		verdict = fmt.Sprintf("Took over the CRD of another etcd-operator, at revision %d", is)
	case was == is:
		verdict = fmt.Sprintf("Restored the CRD of revision %d, which had been changed", is)
	default:
		verdict = fmt.Sprintf("Upgraded the CRD from revision %d to %d", was, is)
	}
	return next, verdict, nil
}

// merge returns the existing definition with our spec and annotations in it. What else it holds stays.
func merge(existing, ours *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	next := existing.DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	maps.Copy(next.Annotations, ours.Annotations)
	next.Spec = *ours.Spec.DeepCopy()
	next.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	if others := versionsOfOthers(existing, ours); len(others) > 0 {
		next.Spec.Versions = append(next.Spec.Versions, others...)
		if existing.Spec.Conversion != nil {
			next.Spec.Conversion = existing.Spec.Conversion.DeepCopy()
		}
	}
	return next
}

// revision reads the annotation that tells the age of a definition of ours.
func revision(definition *apiextensionsv1.CustomResourceDefinition) (int, bool) {
	n, err := strconv.Atoi(definition.Annotations[crd.AnnotationRevision])
	return n, err == nil
}

// versionsOfOthers returns the versions of a definition that are not ours. They are kept, because the
// API server may hold objects that are stored in one of them; new objects are stored in ours.
func versionsOfOthers(existing, ours *apiextensionsv1.CustomResourceDefinition) []apiextensionsv1.CustomResourceDefinitionVersion {
	var others []apiextensionsv1.CustomResourceDefinitionVersion
	for _, v := range existing.Spec.Versions {
		if version(ours, v.Name) == nil {
			v = *v.DeepCopy()
			v.Storage = false
			if v.Schema == nil {
				v.Schema = anything()
			}
			others = append(others, v)
		}
	}
	return others
}

// anything is the schema that accepts every object. Definitions from before schemas were required have
// none, and the API server no longer takes a definition without.
func anything() *apiextensionsv1.CustomResourceValidation {
	yes := true
	return &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes},
	}
}

// firstUnserved returns the first version that we serve and the existing definition does not.
func firstUnserved(existing, ours *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range ours.Spec.Versions {
		if theirs := version(existing, v.Name); v.Served && (theirs == nil || !theirs.Served) {
			return v.Name
		}
	}
	return ""
}

func version(definition *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range definition.Spec.Versions {
		if definition.Spec.Versions[i].Name == name {
			return &definition.Spec.Versions[i]
		}
	}
	return nil
}
