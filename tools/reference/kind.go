// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// A page is what is written of one kind.
type page struct {
	strings.Builder

	types goTypes
	kind  string
}

func kindPage(crd *apiextensionsv1.CustomResourceDefinition, types goTypes) string {
	kind, version := crd.Spec.Names.Kind, crd.Spec.Versions[0]
	p := &page{types: types, kind: kind}
	root := *version.Schema.OpenAPIV3Schema
	fmt.Fprintf(p, "# %s: every field\n\n", kind)
	fmt.Fprintf(p, "<!-- `make generate` writes this page from api/v1beta2. -->\n\n%s\n\n", prose(root.Description))
	fmt.Fprintf(p, "It is `kind: %s` of `apiVersion: %s/%s`. [%s](../%s.md) says how to use it.\n",
		kind, crd.Spec.Group, version.Name, kind, strings.ToLower(kind))
	fmt.Fprintln(p, "A field that is not required can be left out, and can be `null`.")
	for _, part := range []string{"spec", "status"} {
		p.section(part, root.Properties[part], types.structs[kind].types[part])
	}
	p.columns(version.AdditionalPrinterColumns)
	return p.String()
}

// section writes the fields of an object, and after it those of the objects in it.
func (p *page) section(path string, s schema, goType ast.Expr) {
	fmt.Fprintf(p, "\n## %s\n\n", path)
	if s.Description != "" {
		fmt.Fprintf(p, "%s\n\n", prose(s.Description))
	}
	if len(s.XValidations) > 0 {
		fmt.Fprintf(p, "Rules, in the words of the API server:\n\n")
		for _, rule := range messages(path, s.XValidations) {
			fmt.Fprintf(p, "- %s\n", rule)
		}
		fmt.Fprintln(p)
	}
	fmt.Fprintf(p, "| field | type | what it is |\n| --- | --- | --- |\n")
	own := p.types.of(goType)
	var inner []string
	for _, name := range p.order(s, own) {
		field, fieldType := s.Properties[name], own.types[name]
		label := "`" + name + "`"
		if p.hasSection(field, fieldType) {
			inner = append(inner, name)
			label = fmt.Sprintf("[`%s`](#%s)", name, anchor(path+"."+name))
		}
		if itemsOf(field) == nil && label[0] == '[' || p.isClusterSpec(fieldType) {
			field.XValidations = nil // where its fields are explained
		}
		// The operator writes the status: what it has to hold is no rule for whoever reads it.
		isRequired := slices.Contains(s.Required, name) && !strings.HasPrefix(path, "status")
		fmt.Fprintf(p, "| %s | %s | %s |\n", label, p.typeName(field, fieldType), strings.Join(explain(field, isRequired), "<br>"))
	}
	for _, name := range inner {
		field := s.Properties[name]
		if items := itemsOf(field); items != nil {
			items.Description = field.Description
			field = *items
		}
		p.section(path+"."+name, field, own.types[name])
	}
}

// order is that of the Go types; controller-gen sorts the schema's by name.
func (p *page) order(s schema, own structType) []string {
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	place := func(name string) int {
		if i := slices.Index(own.names, name); i >= 0 {
			return i
		}
		return len(own.names)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return names
}

// itemsOf is the schema of what a list or a map holds.
func itemsOf(s schema) *schema {
	switch {
	case s.Items != nil && s.Items.Schema != nil:
		return s.Items.Schema.DeepCopy()
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return s.AdditionalProperties.Schema.DeepCopy()
	}
	return nil
}

// hasSection reports whether a field is an object of this API: Kubernetes' own types are explained by Kubernetes,
// and a spec of a cluster within another kind by the page of EtcdCluster.
func (p *page) hasSection(s schema, goType ast.Expr) bool {
	if items := itemsOf(s); items != nil {
		s = *items
	}
	return len(s.Properties) > 0 && !p.isForeign(goType) && !p.isClusterSpec(goType)
}

func (p *page) isClusterSpec(goType ast.Expr) bool {
	return p.kind != "EtcdCluster" && element(goType) == "ClusterSpec"
}

func (p *page) isForeign(goType ast.Expr) bool { return strings.Contains(p.types.name(goType), ".") }

// typeName says what a value looks like, in the words of YAML and Kubernetes.
func (p *page) typeName(s schema, goType ast.Expr) string {
	name := p.types.name(goType)
	switch {
	case p.isClusterSpec(goType):
		return "[spec of an EtcdCluster](etcdcluster.md#spec)"
	case s.Type == "array":
		return "list of " + p.typeName(*itemsOf(s), goType)
	case s.Type == "object" && itemsOf(s) != nil:
		return "map of " + p.typeName(*itemsOf(s), goType)
	case name == "metav1.Time" || name == "time.Time":
		return "time"
	case name == "metav1.Duration":
		return "duration"
	case name == "resource.Quantity":
		return "quantity"
	case name == "runtime.RawExtension" || s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		return "anything"
	case s.Type == "object" && p.isForeign(goType):
		return "Kubernetes' " + name[strings.Index(name, ".")+1:]
	case s.XIntOrString:
		return "integer or string"
	}
	return s.Type
}

// explain is what a row says of a field: what it is, what it is by default, and what the API server checks.
func explain(s schema, isRequired bool) []string {
	what, byDefault := splitDefault(s)
	list := []string{cell(what)}
	if byDefault != "" {
		list = append(list, "*Default:* "+cell(byDefault))
	}
	if isRequired {
		list = append(list, "*Required*")
	}
	rules := valueRules(s)
	if items := itemsOf(s); items != nil && len(items.Properties) == 0 {
		for _, rule := range valueRules(*items) {
			rules = append(rules, "each: "+rule)
		}
	}
	for _, rule := range messages("", s.XValidations) {
		rules = append(rules, strings.ReplaceAll(rule, "|", `\|`))
	}
	for _, rule := range rules {
		list = append(list, "*Rule:* "+rule)
	}
	return list
}

// messages are those of rules, each with the fields that it is about.
func messages(path string, rules apiextensionsv1.ValidationRules) []string {
	var order []string
	fields := map[string][]string{}
	for _, rule := range rules {
		if !slices.Contains(order, rule.Message) {
			order = append(order, rule.Message)
		}
		if rule.FieldPath != "" {
			fields[rule.Message] = append(fields[rule.Message], "`"+strings.TrimPrefix(path+rule.FieldPath, ".")+"`")
		}
	}
	var list []string
	for _, message := range order {
		about := strings.Join(fields[message], ", ")
		if about != "" {
			about += ": "
		}
		list = append(list, about+prose(message))
	}
	return list
}

func valueRules(s schema) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		var values []string
		for _, value := range s.Enum {
			values = append(values, "`"+strings.Trim(string(value.Raw), `"`)+"`")
		}
		add("one of %s", strings.Join(values, ", "))
	}
	between(add, "", "", s.Minimum, s.Maximum)
	between(add, "length ", "", s.MinLength, s.MaxLength)
	between(add, "", " items", s.MinItems, s.MaxItems)
	between(add, "", " entries", s.MinProperties, s.MaxProperties)
	// Nobody reads the pattern of quantities, which is Kubernetes' own.
	if s.Pattern != "" && !s.XIntOrString {
		add("matches `%s`", strings.ReplaceAll(s.Pattern, "|", `\|`))
	}
	return list
}

// between adds a rule about a number, of which either end may be open.
func between[N int64 | float64](add func(string, ...any), before, after string, least, most *N) {
	switch {
	case least != nil && most != nil && *least == *most:
		add("%sexactly %v%s", before, *least, after)
	case least != nil && most != nil:
		add("%sfrom %v to %v%s", before, *least, *most, after)
	case least != nil:
		add("%sat least %v%s", before, *least, after)
	case most != nil:
		add("%sat most %v%s", before, *most, after)
	}
}

var defaultSentence = regexp.MustCompile(`(?s)\s*Default:\s+(.*?)\.(\s|$)`)

// splitDefault takes the sentence about the default out of a description.
func splitDefault(s schema) (what, byDefault string) {
	what = s.Description
	if found := defaultSentence.FindStringSubmatch(what); found != nil {
		byDefault = found[1]
		what = strings.TrimSpace(strings.Replace(what, found[0], " ", 1))
	}
	if s.Default != nil {
		byDefault = "`" + string(s.Default.Raw) + "`"
	}
	return what, byDefault
}

// columns writes what kubectl get shows.
func (p *page) columns(list []apiextensionsv1.CustomResourceColumnDefinition) {
	fmt.Fprintf(p, "\n## Columns of kubectl get\n\n| column | shows | with |\n| --- | --- | --- |\n")
	for _, column := range list {
		with := ""
		if column.Priority > 0 {
			with = "`-o wide`"
		}
		fmt.Fprintf(p, "| %s | `%s` | %s |\n", column.Name, strings.ReplaceAll(column.JSONPath, "|", `\|`), with)
	}
}

// anchor is the one that GitHub makes of a headline, and the site too.
func anchor(headline string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(headline), ""), " ", "-")
}

// prose makes a comment Markdown: words in angle brackets are no HTML, stars no emphasis.
func prose(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(text)
}

// cell is prose within a table.
func cell(text string) string { return strings.ReplaceAll(prose(text), "|", `\|`) }
