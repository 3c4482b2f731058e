// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package monitoring_test lists the metrics that the operators expose, for the tests of what uses them in test/monitoring: they need
// Prometheus' own code, and are a module of their own.
package monitoring_test

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	_ "github.com/etcd-operator/etcd-operator/internal/backup"
	_ "github.com/etcd-operator/etcd-operator/internal/cluster"
	_ "github.com/etcd-operator/etcd-operator/internal/restore"
)

var update = flag.Bool("update", false, "rewrite the list")

const list = "../../test/monitoring/testdata/operators.txt"

// A line of the list is a metric and its labels.
func TestTheListOfMetricsIsWhatTheOperatorsExpose(t *testing.T) {
	registry, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatal("the registry does not tell what is in it")
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descriptions)
		close(descriptions)
	}()
	pattern := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	var lines []string
	for d := range descriptions {
		found := pattern.FindStringSubmatch(d.String())
		if found == nil {
			t.Fatalf("%s is not as expected", d)
		}
		if !regexp.MustCompile(`^(etcd_operator|leader_election|process)_`).MatchString(found[1]) {
			continue // the libraries' own, which come and go with their versions
		}
		lines = append(lines, strings.TrimSpace(found[1]+" "+found[2]))
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	if *update {
		if err := os.WriteFile(list, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the list is not current (-list +exposed); go test ./example/monitoring -update rewrites it\n%s", diff)
	}
}
