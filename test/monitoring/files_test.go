// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package monitoring holds the alerts and dashboards of example/monitoring to the metrics that exist, to their runbooks, and to
// Prometheus' own code. It is a module of its own, so that nothing else is compiled with what Prometheus needs.
package monitoring

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	examples = "../../example/monitoring"
	runbooks = "../../docs/runbooks.md"
)

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type ruleFile struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rules are those of the PrometheusRule.
func rules(t *testing.T) ruleFile {
	t.Helper()
	var manifest struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   any      `json:"metadata"`
		Spec       ruleFile `json:"spec"`
	}
	if err := yaml.UnmarshalStrict([]byte(read(t, filepath.Join(examples, "prometheusrule.yaml"))), &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Spec
}

func alerts(t *testing.T) []rule {
	t.Helper()
	var list []rule
	for _, group := range rules(t).Groups {
		list = append(list, group.Rules...)
	}
	return list
}

type datasource struct{ Type, UID string }

type panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Datasource  *datasource `json:"datasource"`
	Targets     []struct {
		RefID      string      `json:"refId"`
		Expr       string      `json:"expr"`
		Datasource *datasource `json:"datasource"`
	} `json:"targets"`
	GridPos struct{ X, Y, W, H int } `json:"gridPos"`
}

type dashboard struct {
	UID        string  `json:"uid"`
	Title      string  `json:"title"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type variable struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	Datasource *datasource     `json:"datasource"`
	Query      json.RawMessage `json:"query"`
}

// dashboards are those of the example, by the name of the file.
func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(examples, "dashboards", "*.json"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("dashboards %v, %v", paths, err)
	}
	found := map[string]dashboard{}
	for _, path := range paths {
		var d dashboard
		if err := json.Unmarshal([]byte(read(t, path)), &d); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		found[filepath.Base(path)] = d
	}
	return found
}

// filled is a query with values in place of the dashboard's variables.
func filled(query string) string {
	return strings.NewReplacer("$namespace", "ns", "$name", "example", "$__rate_interval", "5m").Replace(query)
}
