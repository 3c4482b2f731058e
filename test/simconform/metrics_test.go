// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package simconform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// The alerts and dashboards in example/monitoring ask for these; test/monitoring holds them to the list.
func TestEtcdExposesTheMetricsThatAlertsAndDashboardsUse(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(repository.Root(), "test", "monitoring", "testdata", "etcd.txt"))
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(versions))
	for _, v := range versions {
		names = append(names, v.name)
	}
	set, err := artifacts.Ensure(t.Context(), artifacts.Request{EtcdImages: names}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range names {
		t.Run(version, func(t *testing.T) {
			c := newRealCluster(t, filepath.Join(set.Etcd[version], "etcd"))
			m := c.prepare("a")
			c.start("a", map[string]string{"a": m.peer}, true)
			text := ""
			harness.Eventually(t, time.Minute, func(ctx context.Context) error {
				text, err = fetch(ctx, m.clientURL+"/metrics")
				if err == nil && !strings.Contains(text, "\netcd_server_has_leader 1\n") {
					return errors.New("it has no leader yet")
				}
				return err
			})
			for line := range strings.Lines(string(list)) {
				name, labels, _ := strings.Cut(strings.TrimSpace(line), " ")
				if !strings.Contains(text, "\n# TYPE "+name+" ") {
					t.Errorf("etcd %s does not expose %s", version, name)
				}
				checkLabels(t, text, name, labels)
			}
		})
	}
}

// checkLabels looks at the first series of a metric with labels.
func checkLabels(t *testing.T, text, name, labels string) {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+name+"{")
	if labels == "" || !found {
		return
	}
	inside, _, _ := strings.Cut(rest, "}")
	var got []string
	for pair := range strings.SplitSeq(inside, ",") {
		label, _, _ := strings.Cut(pair, "=")
		got = append(got, label)
	}
	slices.Sort(got)
	if strings.Join(got, ",") != labels {
		t.Errorf("%s has the labels %v, want %s", name, got, labels)
	}
}

func fetch(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer is %s", response.Status)
	}
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
