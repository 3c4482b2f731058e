// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func toText(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
