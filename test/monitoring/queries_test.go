// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// ofTargets are the labels that a scrape adds: the Prometheus operator's, and the one of podmonitor-members.yaml.
var ofTargets = []string{"namespace", "pod", "container", "endpoint", "instance", "job", "etcd_cluster"}

// metricName is the label that selectors have for a metric's name.
const metricName = "__name__"

// exposed are the labels of each metric that exists. Of etcd's, which are recorded from a real one in test/simconform, those are
// listed that are used.
func exposed(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, list := range []string{"testdata/operators.txt", "testdata/etcd.txt"} {
		for line := range strings.Lines(read(t, list)) {
			name, names, _ := strings.Cut(strings.TrimSpace(line), " ")
			found[name] = append(strings.FieldsFunc(names, func(r rune) bool { return r == ',' }), found[name]...)
		}
	}
	return found
}

// queries are all that are asked, by where.
func queries(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, alert := range alerts(t) {
		found["alert "+alert.Alert] = alert.Expr
	}
	for file, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				found[file+", panel "+p.Title+" "+target.RefID] = filled(target.Expr)
			}
		}
	}
	return found
}

func TestEveryQueryParsesAndAsksForMetricsThatExist(t *testing.T) {
	known := exposed(t)
	used := map[string]bool{}
	for where, query := range queries(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
		if err != nil {
			t.Errorf("%s: %v in %s", where, err, query)
			continue
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if selector, is := node.(*parser.VectorSelector); is {
				name := baseName(known, selector.Name)
				used[name] = true
				checkSelector(t, where, known, name, selector)
			}
			return nil
		})
	}
	for line := range strings.Lines(read(t, "testdata/etcd.txt")) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); !used[name] {
			t.Errorf("testdata/etcd.txt has %s, which nothing asks for", name)
		}
	}
}

// baseName is that of a histogram for one of its series.
func baseName(known map[string][]string, name string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, is := strings.CutSuffix(name, suffix); is && known[name] == nil {
			return base
		}
	}
	return name
}

func checkSelector(t *testing.T, where string, known map[string][]string, name string, selector *parser.VectorSelector) {
	t.Helper()
	of, exists := known[name]
	if !exists {
		t.Errorf("%s asks for %s, which neither the operators nor etcd expose", where, selector.Name)
		return
	}
	for _, matcher := range selector.LabelMatchers {
		if matcher.Name != metricName && !slices.Contains(of, matcher.Name) && !slices.Contains(ofTargets, matcher.Name) {
			t.Errorf("%s: %s has no label %s", where, name, matcher.Name)
		}
	}
}

func TestVariablesOfDashboardsAreMadeOfMetricsThatExist(t *testing.T) {
	known := exposed(t)
	pattern := regexp.MustCompile(`label_values\((\w+)[^)]*, (\w+)\)`)
	for file, d := range dashboards(t) {
		for _, v := range d.Templating.List {
			if v.Type != "query" {
				continue
			}
			found := pattern.FindStringSubmatch(string(v.Query))
			if found == nil || !slices.Contains(known[found[1]], found[2]) {
				t.Errorf("%s: the variable %s is made of %s", file, v.Name, v.Query)
			}
		}
	}
}
