// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package labtest holds the tests of the lab that need root and a real lab. They take the lab of the machine down and up, cut it
// and kill it, so they run alone (`make test-e2e`, or `go test ./labtest`), one after the other. Each of them leaves the lab up
// and healthy, except those that look at what is left when it is down. The last one leaves it up.
package labtest
