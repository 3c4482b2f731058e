// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// breaking leads to a store's server, which is away from the first part of an upload on, until back is set.
func breaking(t *testing.T, s *stores.Server) (through *stores.Server, away, back *atomic.Bool) {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	away, back = &atomic.Bool{}, &atomic.Bool{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("partNumber") {
			away.Store(true)
		}
		if away.Load() && !back.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(way.Close)
	copied := *s
	copied.URL, copied.Config.Endpoint = way.URL, way.URL
	return &copied, away, back
}

// uploads are the keys of the uploads in the server's bucket that were not finished.
func uploads(t *testing.T, s *stores.Server) []string {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := minio.New(at.Host, &minio.Options{
		Creds: credentials.NewStaticV4(stores.S3ID, stores.S3Secret, ""), Region: "eu-test-1", BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for up := range c.ListIncompleteUploads(t.Context(), stores.Bucket, "", true) {
		if up.Err != nil {
			t.Fatal(up.Err)
		}
		keys = append(keys, up.Key)
	}
	return keys
}

// What could not be aborted while the store was away is found when it is back. Somebody else's upload stays.
func TestUploadsThatCouldNotBeAbortedAreRemovedLater(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(12)
	s3 := stores.StartS3(t)
	through, _, back := breaking(t, s3)
	e := newEnv(t, through)
	startOperator(t, launch{namespace: e.namespace})
	b := e.backup("series", "etcd.backup", etcd.urls()...)
	b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 1, TimeoutInSecond: 10}
	e.create(b)
	e.await("series", "failed", func(b *v1beta2.EtcdBackup) bool { return b.Status.Failures > 0 })
	if left := uploads(t, s3); len(left) == 0 {
		t.Fatal("nothing is left of the upload; the test shows nothing")
	}
	at, _ := url.Parse(s3.URL)
	core, err := minio.NewCore(at.Host, &minio.Options{
		Creds: credentials.NewStaticV4(stores.S3ID, stores.S3Secret, ""), Region: "eu-test-1", BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		t.Fatal(err)
	}
	const others = "etcd.backup_v1_2026-11-16-07:00:00"
	if _, err := core.NewMultipartUpload(t.Context(), stores.Bucket, others, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	back.Store(true)
	e.awaitSuccess("series")
	harness.Eventually(t, harness.Patience, func(context.Context) error {
		left := uploads(t, s3)
		if b := e.read("series"); len(left) == 1 && left[0] == others && len(b.Status.Abandoned) == 0 {
			return nil
		}
		return fmt.Errorf("uploads that are left: %v", left)
	})
}
