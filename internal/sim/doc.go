// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sim is the simulation: the operator's own code, unchanged, runs against models of
// Kubernetes and of etcd, in one goroutine and in virtual time. A seed gives the same run
// every time. Its rooms, each of which imports only those above it:
//
//	clock       virtual time
//	etcdmodel   etcd: raft, membership, data directories, versions
//	kubemodel   Kubernetes: API server, caches, scheduler, kubelets, volumes, nodes
//	world       one Kubernetes with one operator, one client and one restore operator,
//	            and what becomes of each effect of the operator
//	invariants  what must hold before and after every effect, and of every status
//	stories     scenarios, random schedules, and the faults that they are made of
//	explore     plays stories: every crash point, pairs of them, random schedules
//	mutants     deliberate faults in the operator's code, each of which explore has to catch
package sim
