// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command modelschema writes the schemas of CustomResourceDefinitions in the form that
// applyconfiguration-gen reads: an OpenAPI v2 document with one definition for each Go type. With it the
// generated client can tell which fields of an object a field manager owns (Extract…), and its fake
// supports server-side apply.
//
//	modelschema FOLDER GO_PACKAGE
//
// FOLDER holds the definitions as YAML files, GO_PACKAGE is the import path of the Go types.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/util"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: modelschema FOLDER GO_PACKAGE")
		os.Exit(2)
	}
	document, err := models(os.Args[1], os.Args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(document)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "modelschema:", err)
		os.Exit(1)
	}
}

type object = map[string]any

func models(folder, goPackage string) (object, error) {
	crds := os.DirFS(folder)
	files, err := fs.Glob(crds, "*.yaml")
	if err != nil {
		return nil, err
	}
	definitions := object{metaName: objectMeta}
	for _, file := range files {
		text, err := fs.ReadFile(crds, file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, version := range crd.Spec.Versions {
			model := fields(*version.Schema.OpenAPIV3Schema)
			model["metadata"] = object{"$ref": "#/definitions/" + metaName}
			definitions[util.ToRESTFriendlyName(goPackage+"."+crd.Spec.Names.Kind)] = object{"type": "object", "properties": model}
		}
	}
	return object{
		"swagger":     "2.0",
		"info":        object{"title": "models", "version": "v0"},
		"paths":       object{},
		"definitions": definitions,
	}, nil
}

// structure keeps of a schema what says how values are merged: types, fields, and the kinds of lists and
// maps. OpenAPI v2 does not know the rest.
func structure(s apiextensionsv1.JSONSchemaProps) object {
	if s.XIntOrString {
		return object{"type": "string", "format": "int-or-string"}
	}
	out := topology(s)
	if s.Items != nil && s.Items.Schema != nil {
		out["items"] = structure(*s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out["additionalProperties"] = structure(*s.AdditionalProperties.Schema)
	}
	if len(s.Properties) > 0 {
		out["properties"] = fields(s)
	}
	return out
}

// topology is what structure keeps of the schema itself, without what is inside.
func topology(s apiextensionsv1.JSONSchemaProps) object {
	out := object{}
	if s.Type != "" {
		out["type"] = s.Type
	}
	if s.XPreserveUnknownFields != nil {
		out["x-kubernetes-preserve-unknown-fields"] = *s.XPreserveUnknownFields
	}
	if s.XListType != nil {
		out["x-kubernetes-list-type"] = *s.XListType
	}
	if len(s.XListMapKeys) > 0 {
		out["x-kubernetes-list-map-keys"] = s.XListMapKeys
	}
	if s.XMapType != nil {
		out["x-kubernetes-map-type"] = *s.XMapType
	}
	return out
}

func fields(s apiextensionsv1.JSONSchemaProps) object {
	out := object{}
	for name, property := range s.Properties {
		out[name] = structure(property)
	}
	return out
}

// metaName and objectMeta describe the metadata of objects, which no CustomResourceDefinition does.
const metaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

var (
	text       = object{"type": "string"}
	number     = object{"type": "integer"}
	truth      = object{"type": "boolean"}
	texts      = object{"type": "object", "additionalProperties": text}
	objectMeta = object{"type": "object", "properties": object{
		"annotations": texts, "labels": texts,
		"creationTimestamp": text, "deletionTimestamp": text, "deletionGracePeriodSeconds": number,
		"generateName": text, "name": text, "namespace": text, "selfLink": text, "uid": text,
		"generation": number, "resourceVersion": text,
		"finalizers": object{"type": "array", "items": text, "x-kubernetes-list-type": "set"},
		"ownerReferences": object{
			"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{"uid"},
			"items": object{"type": "object", "x-kubernetes-map-type": "atomic", "properties": object{
				"apiVersion": text, "blockOwnerDeletion": truth, "controller": truth, "kind": text, "name": text, "uid": text,
			}},
		},
		"managedFields": object{
			"type": "array", "x-kubernetes-list-type": "atomic",
			"items": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		},
	}}
)
