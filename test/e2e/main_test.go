// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the operators on the lab, as their users meet them: installed from
// example/, on real nodes, with real pods.
package e2e

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

func TestMain(m *testing.M) { tenant.Main(m) }
