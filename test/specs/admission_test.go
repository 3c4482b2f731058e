// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs_test

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// admission is what an API server does to an object of a kind of ours, by the API server's own code.
type admission struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func newAdmission() (*admission, error) {
	definition := crd.EtcdClusters()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &admission{structural: structural, schema: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// Admit implements specs.Admission.
func (a *admission) Admit(before, after map[string]any) (map[string]any, error) {
	next, err := a.object(after)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return next["spec"].(map[string]any), a.create(next)
	}
	last, err := a.object(before)
	if err != nil {
		return nil, err
	}
	return next["spec"].(map[string]any), a.update(next, last)
}

// object is what the API server stores for a spec: unknown fields and nulls that are none are pruned, defaults are set.
func (a *admission) object(spec map[string]any) (map[string]any, error) {
	content, err := json.Marshal(map[string]any{
		"apiVersion": v1beta2.SchemeGroupVersion.String(), "kind": v1beta2.EtcdClusterResourceKind,
		"metadata": map[string]any{"name": "c", "namespace": "default"}, "spec": spec,
	})
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(content, &object); err != nil {
		return nil, err
	}
	pruning.Prune(object, a.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, a.structural)
	defaulting.Default(object, a.structural)
	if _, ok := object["spec"].(map[string]any); !ok {
		return nil, fmt.Errorf("spec: %v is no object", object["spec"])
	}
	return object, nil
}

func (a *admission) create(next map[string]any) error {
	errs := validation.ValidateCustomResource(nil, next, a.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, next)...)
	if len(errs) == 0 {
		errs, _ = a.rules.Validate(context.Background(), nil, a.structural, next, nil, celconfig.RuntimeCELCostBudget)
	}
	return errs.ToAggregate()
}

func (a *admission) update(next, last map[string]any) error {
	correlated := common.NewCorrelatedObject(next, last, &model.Structural{Structural: a.structural})
	var errs field.ErrorList
	errs = append(errs, validation.ValidateCustomResourceUpdate(nil, next, last, a.schema, validation.WithRatcheting(correlated))...)
	if len(listtype.ValidateListSetsAndMaps(nil, a.structural, last)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, next)...)
	}
	if len(errs) == 0 {
		errs, _ = a.rules.Validate(context.Background(), nil, a.structural, next, last, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(correlated))
	}
	return errs.ToAggregate()
}
