// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/internal/process"
)

// since is from which version of Kubernetes on a rule can use each function. The oldest version of all features in use is the oldest
// that the operators run on: whoever adds one here looks it up, and raises process.LeastKubernetes if need be.
var since = map[string]string{
	"has": "1.25", "size": "1.25", "matches": "1.25", "startsWith": "1.25", "contains": "1.25", "all": "1.25", "string": "1.25",
	"quantity": "1.29", "isQuantity": "1.29", "compareTo": "1.29",
	"orValue": "1.29", "hasValue": "1.29", // optional types
}

// rulesOf are all rules below a schema.
func rulesOf(s *apiextensionsv1.JSONSchemaProps) []apiextensionsv1.ValidationRule {
	if s == nil {
		return nil
	}
	rules := slices.Clone(s.XValidations)
	for name := range s.Properties {
		property := s.Properties[name]
		rules = append(rules, rulesOf(&property)...)
	}
	if s.Items != nil {
		rules = append(rules, rulesOf(s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil {
		rules = append(rules, rulesOf(s.AdditionalProperties.Schema)...)
	}
	return rules
}

func TestTheRulesNeedNoNewerKubernetesThanIsSaid(t *testing.T) {
	text := regexp.MustCompile(`"[^"]*"|'[^']*'`)
	call := regexp.MustCompile(`\b([A-Za-z]+)\(`)
	needed := "1.25"
	for _, definition := range []*apiextensionsv1.CustomResourceDefinition{crd.EtcdClusters(), crd.EtcdBackups(), crd.EtcdRestores()} {
		rules := rulesOf(definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
		if len(rules) == 0 {
			t.Errorf("%s has no rules: the test tests nothing", definition.Name)
		}
		for _, rule := range rules {
			code := text.ReplaceAllString(rule.Rule, `""`)
			for _, found := range call.FindAllStringSubmatch(code, -1) {
				version, known := since[found[1]]
				if !known {
					t.Errorf("%s: which version of Kubernetes has %s(), as in %s?", definition.Name, found[1], rule.Rule)
				}
				needed = max(needed, version)
			}
			if strings.Contains(code, ".?") || strings.Contains(code, "[?") {
				needed = max(needed, "1.29")
			}
			if rule.OptionalOldSelf != nil {
				needed = max(needed, "1.30")
			}
		}
	}
	if needed != process.LeastKubernetes {
		t.Errorf("the rules need Kubernetes %s, the operators ask for %s", needed, process.LeastKubernetes)
	}
}

func TestPagesSayWhichKubernetesIsNeeded(t *testing.T) {
	for _, page := range []string{"../../README.md", "../../docs/installing.md"} {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "Kubernetes "+process.LeastKubernetes+" or later") {
			t.Errorf("%s does not say that Kubernetes %s or later is needed", page, process.LeastKubernetes)
		}
	}
}
