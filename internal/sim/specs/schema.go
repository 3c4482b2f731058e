// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package specs makes changes of an EtcdCluster's spec out of the schema of its kind, every field of it, and
// plays them: what the API server accepts leads to the state that a cluster created with it has, or to a named
// reason, and taking it back leads back.
package specs

import (
	"maps"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/etcd-operator/etcd-operator/api/crd"
)

// Field is a field of the spec, at any depth. The items of a list and the values of a map are fields too.
type Field struct {
	// Path is from the spec down to the field.
	Path []Part
	// Schema is what the definition says of it.
	Schema *apiextensionsv1.JSONSchemaProps
	// fields are those below it.
	fields []*Field
}

// Part is one step of a path.
type Part string

// The parts of a path that are no names.
const (
	partItem  Part = "[]"
	partValue Part = "{}"
)

// String is the path as messages have it.
func (f *Field) String() string {
	text := "spec"
	for _, p := range f.Path {
		if p != partItem && p != partValue {
			text += "."
		}
		text += string(p)
	}
	return text
}

// Name is the last name in the field's path.
func (f *Field) Name() string {
	for _, p := range slices.Backward(f.Path) {
		if p != partItem && p != partValue {
			return string(p)
		}
	}
	return "spec"
}

// Root is the spec of an EtcdCluster.
func Root() *Field {
	schema := crd.EtcdClusters().Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	return newField(&schema, nil)
}

func newField(schema *apiextensionsv1.JSONSchemaProps, path []Part) *Field {
	f := &Field{Path: path, Schema: schema}
	add := func(part Part, s *apiextensionsv1.JSONSchemaProps) {
		f.fields = append(f.fields, newField(s, append(slices.Clone(path), part)))
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		s := schema.Properties[name]
		add(Part(name), &s)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		add(partItem, schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		add(partValue, schema.AdditionalProperties.Schema)
	}
	return f
}

// All are all fields below one.
func (f *Field) All() []*Field {
	var all []*Field
	for _, child := range f.fields {
		all = append(append(all, child), child.All()...)
	}
	return all
}

// field finds one below this by its part; nil where there is none.
func (f *Field) field(part Part) *Field {
	for _, child := range f.fields {
		if child.Path[len(child.Path)-1] == part {
			return child
		}
	}
	return nil
}

var (
	quoted   = regexp.MustCompile(`"([^"\s]{0,80})"`)
	numbered = regexp.MustCompile(`\b[0-9]{1,9}\b`)
	proper   = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)
)

// words are those that the definition itself has for a field: in the rules that its values keep to, and in what it tells
// people of them. Kubernetes' own types have no enums in their schemas; the words are in the descriptions.
func (f *Field) words() []string {
	var words []string
	for _, rule := range f.Schema.XValidations {
		for _, match := range quoted.FindAllStringSubmatch(rule.Rule, -1) {
			words = append(words, match[1])
		}
	}
	for _, match := range quoted.FindAllStringSubmatch(f.Schema.Description, -1) {
		words = append(words, match[1])
	}
	words = append(words, proper.FindAllString(f.Schema.Description, -1)...)
	slices.Sort(words)
	return slices.Compact(words)
}

// numbers are those in the rules for a field.
func (f *Field) numbers() []string {
	var numbers []string
	for _, rule := range f.Schema.XValidations {
		numbers = append(numbers, numbered.FindAllString(rule.Rule, -1)...)
	}
	return numbers
}
