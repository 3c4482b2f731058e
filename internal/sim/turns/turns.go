// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package turns plays the simulation's stories with two versions of the etcd-operator that take turns: the one of today
// and the one before it. Its tests and the source of the latter are in testdata: hack/before.sh makes packages of it, and
// shows both to the go command. make test-sim does that.
package turns
