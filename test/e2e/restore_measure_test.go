// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// What a restore may take: so many times the creation of an empty cluster, and for what is large in
// addition so many times a raw copy of the object onto the same disk.
const (
	timesCreate = 1.5
	timesCopy   = 2
)

// scriptsLook is when scripts look whether a restore has succeeded: the original and the fork reported that once the first
// member had been made, and the fork's own tests look 10 s after the creation.
const scriptsLook = 10 * time.Second

// How fast a restore is, next to the creation of an empty cluster in the same run. It has to have the
// machine for itself, so it is a benchmark and no test: make bench runs it once, and fails on a broken
// promise.
func BenchmarkRestoreNextToCreate(b *testing.B) {
	n := tenant.New(b)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	small := create(n, "small", `{size: 3, version: "3.6.16"}`) // images, caches, DNS are warm after it
	small.awaitReady()
	small.fill(30)
	small.backUp(s3, "small")

	created, restored, replaced := time.Hour, time.Hour, time.Hour
	for i := range 3 { // by turns, the best of each: the machine has other things to do
		start := time.Now()
		empty := create(n, fmt.Sprintf("empty-%d", i), `{size: 3, version: "3.6.16"}`)
		created = min(created, empty.awaitServing(start, 3, nil))
		restored = min(restored, timeRestore(n, s3, "small", fmt.Sprintf("new-%d", i), `, clusterSpec: {size: 3, version: "3.6.16"}`))
		empty.awaitReady()
		replaced = min(replaced, timeRestore(n, s3, "small", empty.name, ""))
		n.Kubectl("delete", "etcd", empty.name, fmt.Sprintf("new-%d", i))
	}
	b.Logf("three members serve: created empty %s, restored %s (%.2f times), restored over a live cluster %s (%.2f times)",
		created.Round(time.Millisecond), restored.Round(time.Millisecond), restored.Seconds()/created.Seconds(),
		replaced.Round(time.Millisecond), replaced.Seconds()/created.Seconds())
	b.ReportMetric(restored.Seconds()/created.Seconds(), "times-create")
	if limit := time.Duration(timesCreate * float64(created)); restored > limit {
		b.Errorf("a restore took %s, more than %s", restored, limit)
	}

	const large = 1 << 30
	spec := `size: %d, version: "3.6.16", pod: {etcdEnv: [{name: ETCD_QUOTA_BACKEND_BYTES, value: "4294967296"}]}`
	source := create(n, "large", "{"+fmt.Sprintf(spec, 1)+"}")
	source.awaitReady()
	source.fillBytes(large)
	source.backUp(s3, "large")
	n.Kubectl("delete", "etcd", "large")
	copied := rawCopy(b, s3, "large")
	took := timeRestore(n, s3, "large", "large-again", ", clusterSpec: {"+fmt.Sprintf(spec, 3)+"}")
	limit := time.Duration(timesCreate*float64(created) + timesCopy*float64(copied))
	b.Logf("1 GiB: a raw copy takes %s, the restore until three members serve %s; promised are %s",
		copied.Round(time.Millisecond), took.Round(time.Millisecond), limit.Round(time.Millisecond))
	if took > limit {
		b.Errorf("the restore of 1 GiB took %s, more than %s", took, limit)
	}
}

// timeRestore restores a cluster and returns how long it took until three members that were not there
// before serve.
func timeRestore(n *tenant.Tenant, s3 *tenant.S3, key, cluster, more string) time.Duration {
	n.Helper()
	c := &etcdCluster{Tenant: n, name: cluster}
	before := c.pods()
	start := time.Now()
	restore(n, cluster, cluster, s3, key, more)
	took := c.awaitServing(start, 3, before)
	if done := awaitRestored(n, cluster).Status.CompletionTime.Sub(start); key == "small" && done > scriptsLook {
		n.Errorf("the restore is reported to have succeeded after %s, more than %s", done, scriptsLook)
	}
	return took
}

// fillBytes writes about that much that does not compress.
func (c *etcdCluster) fillBytes(size int) {
	c.Helper()
	client := c.client()
	random := rand.NewChaCha8([32]byte{7})
	value := make([]byte, 1<<20)
	for i := range size / len(value) {
		_, _ = random.Read(value)
		if _, err := client.Put(c.Context(), fmt.Sprintf("large/%06d", i), string(value)); err != nil {
			c.Fatal(err)
		}
	}
}

// rawCopy is how long it takes to get an object out of the store and onto a disk.
func rawCopy(b *testing.B, s3 *tenant.S3, key string) time.Duration {
	b.Helper()
	start := time.Now()
	body, _, err := s3.Open().Get(b.Context(), key)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	file, err := os.Create(filepath.Join(b.TempDir(), "copy"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(file, body); err != nil {
		b.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
