// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// crossing is a proxy in front of a server which can kill the operator at a request.
type crossing struct {
	url string
	// seen counts the answers to requests that match count.
	seen atomic.Int64

	mu   sync.Mutex
	trip func(r *http.Request, body string) bool
	late bool
	kill func()
}

// newCrossing starts a proxy. count says which answered requests are counted.
func newCrossing(t *testing.T, target string, transport http.RoundTripper, count func(*http.Request) bool) *crossing {
	t.Helper()
	c := &crossing{}
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is part of the signature
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode < 300 && count(r.Request) {
				c.seen.Add(1)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			proxy.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch kill, late := c.strike(r, string(body)); {
		case kill == nil:
			proxy.ServeHTTP(w, r)
		case late:
			// The server does what it was asked to, but nobody is there any more to hear of it.
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			kill()
			panic(http.ErrAbortHandler)
		default:
			kill()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	c.url = front.URL
	return c
}

// strike returns the way to kill the operator where this is the request to do it at.
func (c *crossing) strike(r *http.Request, body string) (kill func(), late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trip == nil || !c.trip(r, body) {
		return nil, false
	}
	c.trip = nil
	return c.kill, c.late
}

func (c *crossing) arm(trip func(*http.Request, string) bool, late bool, kill func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trip, c.late, c.kill = trip, late, kill
}

// The requests that a backup consists of.
var (
	notesRun = func(r *http.Request, body string) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") && strings.Contains(body, `"run":{`)
	}
	notesResult = func(r *http.Request, body string) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") && strings.Contains(body, `"succeeded":true`) && !strings.Contains(body, `"run":{`)
	}
	beginsUpload = func(r *http.Request, _ string) bool {
		return r.Method == http.MethodPost && r.URL.Query().Has("uploads")
	}
	sendsPart = func(r *http.Request, _ string) bool {
		return r.Method == http.MethodPut && r.URL.Query().Get("partNumber") == "2"
	}
	finishesUpload = func(r *http.Request, _ string) bool {
		return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
	}
	deletesObject = func(r *http.Request, _ string) bool {
		return r.Method == http.MethodDelete && !r.URL.Query().Has("uploadId")
	}
)

var crashes = []struct {
	name string
	api  bool // the request goes to the API server, not to the store
	at   func(*http.Request, string) bool
	late bool
	// series says that only a series comes there.
	series bool
}{
	{name: "before the run is noted", api: true, at: notesRun},
	{name: "after the run is noted", api: true, at: notesRun, late: true},
	{name: "before the upload", at: beginsUpload},
	{name: "after the upload began", at: beginsUpload, late: true},
	{name: "during the upload", at: sendsPart, late: true},
	{name: "before the upload is finished", at: finishesUpload},
	{name: "after the upload is finished", at: finishesUpload, late: true},
	{name: "before the retention deletes", at: deletesObject, series: true},
	{name: "after the retention deleted", at: deletesObject, late: true, series: true},
	{name: "before the result is noted", api: true, at: notesResult},
	{name: "after the result is noted", api: true, at: notesResult, late: true},
}

func TestOperatorKilledAtAnyStepLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(20)
	s3 := stores.StartS3(t)
	for _, crash := range crashes {
		for _, series := range []bool{false, true} {
			if crash.series && !series {
				continue
			}
			name := crash.name + ", one backup"
			if series {
				name = crash.name + ", series"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := &crashCase{env: newEnv(t, s3), key: strings.NewReplacer(" ", "-", ",", "").Replace(name)}
				c.prepare(t, series, etcd)
				armed := c.store3
				if crash.api {
					armed = c.api
				}
				c.killAt(t, armed, crash.at, crash.late)
				startOperator(t, c.launch())
				c.check(t, series)
			})
		}
	}
}

// What nobody has verified must not count as a backup: the next one has another name where the cluster was
// written to meanwhile.
func TestOperatorKilledBeforeItVerifiesLeavesNothingUnverified(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(20)
	c := &crashCase{env: newEnv(t, stores.StartS3(t)), key: "verified", verify: true}
	c.prepare(t, true, etcd)
	c.killAt(t, c.store3, finishesUpload, true)
	etcd.fill(1)
	startOperator(t, c.launch())
	b := c.await("b", "successful and finished", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded && b.Status.Run == nil })
	_, made, _ := strings.Cut(b.Status.URL, stores.Bucket+"/")
	want := append([]string{made, c.newestOld}, c.foreign...)
	slices.Sort(want)
	if diff := cmp.Diff(want, c.keys(c.key)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
	if n := c.store3.seen.Load(); n != 2 {
		t.Errorf("%d uploads were finished, want 2", n)
	}
}

// Nobody dies: the API server takes the result, and only its answer does not arrive.
func TestASeriesContinuesAfterTheAnswerToAResultIsLost(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	c := &crashCase{env: newEnv(t, stores.StartS3(t)), key: "lost"}
	c.prepare(t, true, etcd)
	b := c.read("b")
	b.Spec.BackupPolicy.BackupIntervalInSecond = 2
	if err := kube.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{})
	c.api.arm(notesResult, true, func() { close(lost) })
	startOperator(t, c.launch())
	select {
	case <-lost:
	case <-time.After(harness.Patience):
		t.Fatalf("no result was noted; the status is %+v", c.read("b").Status)
	}
	first := c.read("b").Status.LastSuccessDate
	c.await("b", "backed up again", func(b *v1beta2.EtcdBackup) bool { return b.Status.LastSuccessDate.After(first.Time) })
}

type crashCase struct {
	*env
	verify      bool
	key         string
	store3, api *crossing
	uid         string
	before      time.Time
	foreign     []string
	newestOld   string
}

// killAt runs the operator until it is killed at a request.
func (c *crashCase) killAt(t *testing.T, armed *crossing, at func(*http.Request, string) bool, late bool) {
	t.Helper()
	var p *harness.RunningOperator
	ready := make(chan struct{})
	armed.arm(at, late, func() {
		<-ready
		p.Kill()
	})
	p = startOperator(t, c.launch())
	close(ready)
	select {
	case <-p.Ended():
	case <-time.After(harness.Patience):
		t.Fatalf("the operator never came to the step; its status is %+v", c.read("b").Status)
	}
}

func (c *crashCase) launch() launch { return launch{namespace: c.namespace, api: c.api.url} }

// prepare makes an object that is due once, with two older backups of its own and some of others.
func (c *crashCase) prepare(t *testing.T, series bool, etcd *etcdCluster) {
	t.Helper()
	config := server.RESTConfig()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	c.api = newCrossing(t, config.Host, transport, func(*http.Request) bool { return false })
	c.store3 = newCrossing(t, c.server.URL, http.DefaultTransport, func(r *http.Request) bool { return finishesUpload(r, "") })
	b := c.backup("b", c.key, etcd.urls()...)
	b.Spec.S3.Endpoint = c.store3.url
	if c.verify {
		b.Spec.Verify = v1beta2.BackupVerificationRestore
	}
	if series {
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 3600, MaxBackups: 2}
	}
	c.create(b)
	if !series {
		return
	}
	c.uid = string(b.UID)
	c.before = time.Now().Add(-2 * time.Hour).Truncate(time.Second)
	b.Status.LastScheduled = &metav1.Time{Time: c.before}
	if err := kube.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	// By string order of the revisions the newest would come first to be deleted.
	c.newestOld = c.key + "_v10_2026-01-02-00:00:00"
	c.plant(t, c.uid, c.key+"_v9_2026-01-01-00:00:00")
	c.plant(t, c.uid, c.newestOld)
	c.foreign = []string{
		c.key + "_v1_2020-01-01-00:00:00",        // somebody else's, in a name like ours
		c.key + "_v2_2020-01-01-00:00:00.sha256", // something beside it
		c.key + "_verification",
	}
	for _, name := range c.foreign {
		c.plant(t, "somebody else", name)
	}
}

// plant puts an object into the store.
func (c *crashCase) plant(t *testing.T, owner, name string) {
	t.Helper()
	err := c.store().Put(t.Context(), name, strings.NewReader("old"), store.Labels{"etcdbackupowner": owner}, func() store.Labels { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// check waits for the end and looks at everything that is left.
func (c *crashCase) check(t *testing.T, series bool) {
	t.Helper()
	b := c.await("b", "successful and finished", func(b *v1beta2.EtcdBackup) bool {
		s := b.Status
		return s.Succeeded && s.Run == nil && (!series || s.LastScheduled != nil && s.LastScheduled.After(c.before))
	})
	_, made, _ := strings.Cut(b.Status.URL, stores.Bucket+"/")
	want := append([]string{made}, c.foreign...)
	if series {
		want = append(want, c.newestOld)
		if len(b.Status.Backups) != 2 || b.Status.Backups[0].Name != made || b.Status.Backups[1].Name != c.newestOld {
			t.Errorf("status.backups = %+v, want %s and %s", b.Status.Backups, made, c.newestOld)
		}
		if due := b.Status.NextRun; due == nil || time.Until(due.Time) < 50*time.Minute {
			t.Errorf("nextRun = %v, want about an hour from now", due)
		}
	} else if made != c.key {
		t.Errorf("the object is %s, want %s", made, c.key)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, c.keys(c.key)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
	facts := c.checkWhole(made, nil)
	if facts.Revision != b.Status.EtcdRevision || facts.Run == "" {
		t.Errorf("the object is %+v, the status %+v", facts, b.Status)
	}
	if n := c.store3.seen.Load(); n != 1 {
		t.Errorf("%d uploads were finished, want 1: none lost, none repeated", n)
	}
	checkNoUploads(t, c.server, c.key)
}

// checkNoUploads makes sure that no part of an upload is left in S3.
func checkNoUploads(t *testing.T, s *stores.Server, prefix string) {
	t.Helper()
	fields := strings.Fields(string(s.Config.Secret["credentials"]))
	client, err := minio.New(strings.TrimPrefix(s.URL, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(fields[3], fields[6], ""), Region: "eu-test-1", BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		t.Fatal(err)
	}
	for up := range client.ListIncompleteUploads(t.Context(), stores.Bucket, prefix, true) {
		if up.Err != nil {
			t.Fatal(up.Err)
		}
		t.Errorf("the upload of %s was left behind", up.Key)
	}
}
