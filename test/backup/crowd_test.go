// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// counted leads to a store's server, and counts the requests.
func counted(tb testing.TB, s *stores.Server) (*stores.Server, *atomic.Int64) {
	tb.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		tb.Fatal(err)
	}
	var requests atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	tb.Cleanup(way.Close)
	through := *s
	through.URL, through.Config.Endpoint = way.URL, way.URL
	return &through, &requests
}

// crowd puts that many small objects of an EtcdBackup into the store, with the names of its series. Only the first goes
// the way of an upload; 100,000 of them would take an hour. They are of another cluster than the one that is backed up:
// with their higher revisions they would otherwise have to be kept.
func (e *env) crowd(key, owner string, n int) {
	e.t.Helper()
	now := time.Now().Add(-time.Second)
	name := func(i int) string {
		// Within the last half an hour: what is older than the EtcdBackup cannot be its own.
		return snapshot.Name{Series: key, Revision: int64(i + 1), Time: now.Add(-time.Duration(n-i) * 30 * time.Minute / time.Duration(n))}.String()
	}
	labels := store.Labels{"etcdbackupowner": owner, "etcdclusterid": "beef"}
	if err := e.store().Put(e.t.Context(), name(0), strings.NewReader("small"), labels, func() store.Labels { return nil }); err != nil {
		e.t.Fatal(err)
	}
	folder := func(of string) *os.Root {
		root, err := os.OpenRoot(filepath.Join(e.server.Folder, of, stores.Bucket))
		if err != nil {
			e.t.Fatal(err)
		}
		return root
	}
	data, sidecar := folder("data"), folder("sidecar")
	facts := map[string][]byte{}
	for _, fact := range []string{"metadata", "etag", "content-type"} {
		text, err := sidecar.ReadFile(filepath.Join(name(0), "meta", fact))
		if err != nil {
			e.t.Fatal(err)
		}
		facts[fact] = text
	}
	for i := 1; i < n; i++ {
		err := errors.Join(data.WriteFile(name(i), []byte("small"), 0o600), sidecar.MkdirAll(filepath.Join(name(i), "meta"), 0o750))
		for fact, text := range facts {
			err = errors.Join(err, sidecar.WriteFile(filepath.Join(name(i), "meta", fact), text, 0o600))
		}
		if err != nil {
			e.t.Fatal(err)
		}
	}
}

// crowded is what a run of a series costs.
type crowded struct {
	requests int64
	took     time.Duration
	pruned   int
}

// runInACrowd lets a series of which n backups are in the store make three more, and returns what the first and the last
// of them cost, and the operator.
func runInACrowd(tb testing.TB, n, keep int) (first, last crowded, p *harness.RunningOperator) {
	tb.Helper()
	etcd := startEtcd(tb, "v3.6.16", 1)
	s3 := stores.StartS3(tb)
	through, requests := counted(tb, s3)
	e := newEnv(tb, through)
	object := e.backup("series", "etcd.backup", etcd.urls()...)
	object.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 5, MaxBackups: keep, TimeoutInSecond: 600}
	e.create(object)
	direct := &env{t: tb, namespace: e.namespace, server: s3}
	direct.crowd("etcd.backup", string(object.UID), n)
	p = startOperator(tb, launch{namespace: e.namespace, env: []string{"GOMEMLIMIT=90MiB", "GOGC=50"}})
	const runs = 3
	var after time.Time
	for i := range runs {
		before, began := requests.Load(), time.Now()
		harness.Eventually(tb, 10*time.Minute, func(context.Context) error {
			if object = e.read("series"); object.Status.Succeeded && object.Status.LastSuccessDate.After(after) {
				return nil
			}
			return fmt.Errorf("the status is %+v", object.Status)
		})
		after = object.Status.LastSuccessDate.Time
		last = crowded{requests: requests.Load() - before, took: time.Since(began)}
		if i == 0 {
			first = last
		}
	}
	last.pruned = n + runs - len(direct.keys("etcd.backup_v"))
	return first, last, p
}

// How much is asked for one by one does not depend on how many objects there are.
func TestRetentionInACrowdAsksForFew(t *testing.T) {
	t.Parallel()
	const many, page = 3000, 1000
	t.Run("nothing is pruned", func(t *testing.T) {
		t.Parallel()
		first, last, _ := runInACrowd(t, many, 0)
		if most := int64(many/page + 200); first.requests > most {
			t.Errorf("the first run took %d requests, want at most %d", first.requests, most)
		}
		if most := int64(2 * (many/page + 20)); last.requests > most {
			t.Errorf("a later one took %d requests, want at most %d", last.requests, most)
		}
	})
	t.Run("most are to be pruned", func(t *testing.T) {
		t.Parallel()
		first, last, _ := runInACrowd(t, many, 5)
		if most := int64(many/page + 3*1000 + 100); first.requests > most {
			t.Errorf("the first run took %d requests, want at most %d", first.requests, most)
		}
		if last.pruned < 1000 {
			t.Errorf("only %d were pruned", last.pruned)
		}
	})
}

// BenchmarkRetentionInACrowd says what a run of a series costs with 100,000 of its backups in the store.
func BenchmarkRetentionInACrowd(b *testing.B) {
	const many = 100_000
	for name, keep := range map[string]int{"KeepAll": 0, "Keep10": 10} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				first, last, p := runInACrowd(b, many, keep)
				b.ReportMetric(float64(first.requests), "requests/first")
				b.ReportMetric(first.took.Seconds(), "s/first")
				b.ReportMetric(float64(last.requests), "requests/later")
				b.ReportMetric(last.took.Seconds(), "s/later")
				b.ReportMetric(float64(memoryOf(b, p, "VmHWM:"))/(1<<20), "MiB")
			}
		})
	}
}
