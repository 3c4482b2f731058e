// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// made plays an etcd-operator that makes the cluster of the backup.
func made(r *v1beta2.EtcdRestore, stage v1beta2.RestoreStage, clusterID string, members int32) func(*v1beta2.ClusterStatus) {
	return func(status *v1beta2.ClusterStatus) {
		status.Bootstrap = &v1beta2.BootstrapStatus{
			Seed: "c-2", LastRequest: string(r.UID),
			Restore: &v1beta2.BootstrapRestore{UID: string(r.UID), Name: r.Name, Stage: stage, RevisionBumped: *r.Status.RevisionBump},
		}
		status.ClusterID = clusterID
		is := corev1.ConditionFalse
		if members == 3 {
			is = corev1.ConditionTrue
		}
		ready(status, is, members)
	}
}

// The whole course of a restore over a cluster that lives, from the check to the end of the object.
func TestARestoreFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	p := startOperator(t, s.namespace)
	s.write("etcd.backup", snapshot.Format{}, snapshot.Facts{Revision: 51, EtcdVersion: "3.6.16", Time: time.Now().Add(-time.Hour)})
	c := s.cluster("c")
	spec := c.Spec
	r := s.restore("r", "etcd.backup", func(r *v1beta2.EtcdRestore) {
		r.Spec.KeepOldVolumes, r.Spec.TTLSecondsAfterFinished = true, ptr.To[int32](1)
	})
	request := s.awaitRequest(c, r)
	s.await(r, "requested", func() bool { return r.Status.RequestTime != nil })
	sum := sha256.Sum256(snap)
	want := v1beta2.RestoreRequest{
		UID: r.UID, Name: "r", Secret: r.Status.TicketSecret, URL: "https://etcd-restore-operator." + s.namespace + ".svc:19999/v1/backup/" + s.namespace + "/r",
		Source: r.Status.Backup.URL, Size: int64(len(snap)), SHA256: hex.EncodeToString(sum[:]), RevisionBump: *r.Status.RevisionBump, KeepVolumes: true,
		Deadline: request.Deadline,
	}
	if left := time.Until(request.Deadline); left > 10*time.Minute || left < 8*time.Minute {
		t.Errorf("the etcd-operator has %s to begin", left)
	}
	if diff := cmp.Diff(want, request); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(spec, c.Spec); diff != "" {
		t.Errorf("the spec of the cluster has changed:\n%s", diff)
	}
	backup := r.Status.Backup
	if backup.EtcdRevision != 51 || backup.EtcdVersion != "3.6.16" || time.Since(backup.Time.Time) < time.Hour || *r.Status.RevisionBump < 3600*50_000 {
		t.Errorf("the backup was found to be %+v, the revision is raised by %d", backup, *r.Status.RevisionBump)
	}
	if r.Status.Phase != v1beta2.RestorePhaseRequested || r.Status.Succeeded || !meta.IsStatusConditionTrue(r.Status.Conditions, "Reconciling") {
		t.Errorf("while it waits for the etcd-operator its status is %+v", r.Status)
	}
	ticket := s.ticket(request)
	token, ca := string(ticket.Data[v1beta2.RestoreTicketToken]), ticket.Data[v1beta2.RestoreTicketCA]

	// Nobody gets the data of the cluster without the token.
	for name, authorization := range map[string]string{
		"no token": "", "a wrong token": "Bearer " + strings.Repeat("0", len(token)), "the scheme alone": "Bearer ", "half a token": "Bearer " + token[:len(token)/2],
		"another scheme": "Basic " + token, "no scheme": token,
	} {
		if status, body, err := s.fetch(p, request, ca, authorization); err != nil || status != http.StatusUnauthorized || bytes.Contains(body, snap[:64]) {
			t.Errorf("with %s the answer is %d %v", name, status, err)
		}
	}
	other := request
	other.URL = strings.TrimSuffix(request.URL, "/r") + "/nothing"
	if status, _, err := s.fetch(p, other, ca, "Bearer "+token); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a restore that is not there: %d %v", status, err)
	}
	if _, _, err := s.fetch(p, request, nil, "Bearer "+token); err == nil {
		t.Error("the certificate is one that anybody trusts")
	}
	if plain, err := http.Get("http://" + p.BackupAddress + "/v1/backup/" + s.namespace + "/r"); err == nil { //nolint:noctx // it must not answer
		text, _ := io.ReadAll(plain.Body)
		_ = plain.Body.Close()
		if plain.StatusCode == http.StatusOK || bytes.Contains(text, snap[:64]) {
			t.Errorf("without TLS it answers %s", plain.Status)
		}
	}

	s.setStatus(c, made(r, v1beta2.RestoreStageFilling, "", 0))
	s.await(r, "fetching", func() bool { return r.Status.Phase == v1beta2.RestorePhaseFetching })
	if status, body, err := s.fetch(p, request, ca, "Bearer "+token); err != nil || status != http.StatusOK || !bytes.Equal(body, snap) {
		t.Fatalf("with the token the answer is %d with %d bytes, %v", status, len(body), err)
	}
	s.await(r, "making the seed", func() bool {
		return r.Status.Phase == v1beta2.RestorePhaseBuildingSeed && r.Status.FetchedBytes == int64(len(snap))
	})
	s.setStatus(c, made(r, v1beta2.RestoreStageStarting, "new", 1))
	s.await(r, "growing", func() bool { return r.Status.Phase == v1beta2.RestorePhaseGrowing && r.Status.ClusterID == "new" })
	if message := meta.FindStatusCondition(r.Status.Conditions, "Ready").Message; !strings.Contains(message, "1 of 3 members are ready") || !strings.Contains(message, "set by the test") {
		t.Errorf("while it grows it says %q", message)
	}
	s.setStatus(c, made(r, v1beta2.RestoreStageStarting, "new", 3))
	s.eventually("the ticket, the request and at last the object are gone", func() bool {
		return s.gone(ticket) && s.gone(r)
	})
	s.get(c)
	if _, asked := c.Annotations[v1beta2.AnnotationRestore]; asked {
		t.Error("the request is left on the cluster")
	}
	if status, _, err := s.fetch(p, request, ca, "Bearer "+token); err != nil || status != http.StatusUnauthorized {
		t.Errorf("after the end the answer is %d %v", status, err)
	}
	p.CheckMetrics(t, `etcd_operator_restores_total{cluster="c",namespace="`+s.namespace+`",result="succeeded"} 1`, "etcd_operator_restore_served_bytes_total", "etcd_operator_restore_duration_seconds_count",
		`etcd_operator_restore_steps_total{decision="request-restore"}`)
}

// Every kind of store, every format, and what other tools have put there.
func TestBackupsOfEveryStoreAreServedPlain(t *testing.T) {
	t.Parallel()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range stores.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, kind.Start(t))
			p := startOperator(t, s.namespace, "-file-store-dir="+s.server.Config.FileRoot)
			api.NewSecret(t, s.namespace, "key", map[string][]byte{"identities": []byte(key.String())})
			s.write("sealed", snapshot.Format{Compression: snapshot.Zstd, Recipients: []age.Recipient{key.Recipient()}}, snapshot.Facts{Revision: 51})
			s.put("etcd.backup_v51_2026-11-14-02:30:00", snap)
			for name, object := range map[string]string{"sealed": "sealed", "classic": "etcd.backup_v51_2026-11-14-02:30:00"} {
				c := s.cluster(name)
				r := s.restore(name, object, func(r *v1beta2.EtcdRestore) {
					r.Spec.EtcdCluster.Name = name
					if name == "sealed" {
						r.Spec.EncryptionSecret = "key"
					}
				})
				request := s.awaitRequest(c, r)
				ticket := s.ticket(request)
				status, body, err := s.fetch(p, request, ticket.Data["ca.crt"], "Bearer "+string(ticket.Data["token"]))
				if err != nil || status != http.StatusOK || !bytes.Equal(body, snap) {
					t.Errorf("%s: the answer is %d with %d bytes, %v", name, status, len(body), err)
				}
				if s.get(r); r.Status.Backup.EtcdRevision != 51 || r.Status.Backup.Time == nil {
					t.Errorf("%s was found to be %+v", name, r.Status.Backup)
				}
			}
			classic := &v1beta2.EtcdRestore{ObjectMeta: s.meta("classic")}
			if s.get(classic); classic.Status.Backup.Time.UTC().Format(time.DateTime) != "2026-11-14 02:30:00" {
				t.Errorf("the time in the name was read as %s", classic.Status.Backup.Time)
			}
		})
	}
}

// Where there is no cluster, one is made with the request on it from the start.
func TestAClusterIsCreatedWhereThereIsNone(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	startOperator(t, s.namespace)
	s.write("etcd.backup", snapshot.Format{}, snapshot.Facts{ClusterSpec: `{"size":5,"version":"3.5.35","paused":true,"pod":{"labels":{"team":"databases"}}}`})
	s.put("foreign", snap)
	for name, tc := range map[string]struct {
		key  string
		spec *v1beta2.ClusterSpec
		size int
	}{
		"of its own spec": {"foreign", &v1beta2.ClusterSpec{Size: 1}, 1},
		"of the kept one": {"etcd.backup", nil, 5},
	} {
		object := strings.ReplaceAll(name, " ", "-")
		c := &v1beta2.EtcdCluster{ObjectMeta: s.meta(object)}
		r := s.restore(object, tc.key, func(r *v1beta2.EtcdRestore) {
			r.Spec.EtcdCluster.Name, r.Spec.ClusterSpec = object, tc.spec
		})
		s.awaitRequest(c, r)
		if c.Spec.Size != tc.size || c.Spec.Paused {
			t.Errorf("%s: the cluster has the spec %+v", name, c.Spec)
		}
		if tc.spec == nil && (c.Spec.Version != "3.5.35" || c.Spec.Pod != nil) {
			t.Errorf("%s: the cluster has the spec %+v", name, c.Spec)
		}
	}
	r := s.restore("none", "foreign")
	s.awaitRefusal(r, "ClusterSpecMissing")
	r = s.restore("long", "foreign", func(r *v1beta2.EtcdRestore) {
		r.Spec.EtcdCluster.Name, r.Spec.ClusterSpec = strings.Repeat("a", 53), &v1beta2.ClusterSpec{Size: 1}
	})
	s.awaitRefusal(r, "ClusterRefused")
	if !strings.Contains(r.Status.Reason, "no longer than 52 characters") {
		t.Errorf("the reason is %q", r.Status.Reason)
	}
}

// An operator that is killed leaves nothing that the next one does not resume.
func TestARestartedOperatorResumesARestore(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	p := startOperator(t, s.namespace)
	s.put("etcd.backup", snap)
	c := s.cluster("c")
	r := s.restore("r", "etcd.backup")
	request := s.awaitRequest(c, r)
	p.Kill()
	s.setStatus(c, made(withBump(s, r), v1beta2.RestoreStageFilling, "", 0))
	p = startOperator(t, s.namespace)
	s.await(r, "fetching", func() bool { return r.Status.Phase == v1beta2.RestorePhaseFetching })
	if again := s.awaitRequest(c, r); again != request {
		t.Errorf("the request %+v became %+v", request, again)
	}
	// The certificate and the token are those of before: the member need not be told.
	ticket := s.ticket(request)
	if status, body, err := s.fetch(p, request, ticket.Data["ca.crt"], "Bearer "+string(ticket.Data["token"])); err != nil || status != http.StatusOK || !bytes.Equal(body, snap) {
		t.Errorf("the answer is %d with %d bytes, %v", status, len(body), err)
	}
	p.Kill()
	s.setStatus(c, made(r, v1beta2.RestoreStageStarting, "new", 3))
	startOperator(t, s.namespace)
	s.await(r, "done", func() bool { return r.Status.Succeeded && r.Status.TicketSecret == "" })
}

// withBump is the restore with what the plan has written, or would have.
func withBump(s *scene, r *v1beta2.EtcdRestore) *v1beta2.EtcdRestore {
	s.Helper()
	s.get(r)
	return r
}

// A restore is undone by its deletion also where nobody saw it: while no operator ran, another one got its
// name.
func TestTheRequestOfADeletedRestoreIsCancelledThoughAnotherHasItsName(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	p := startOperator(t, s.namespace)
	s.put("etcd.backup", snap)
	c := s.cluster("c")
	r := s.restore("r", "etcd.backup")
	s.awaitRequest(c, r)
	p.Kill()
	if err := kube.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	second := s.restore("r", "nothing")
	startOperator(t, s.namespace)
	s.awaitRefusal(second, "ObjectNotFound")
	s.eventually("the request is cancelled", func() bool {
		s.get(c)
		return c.Annotations[v1beta2.AnnotationRestore] == ""
	})
}

// As long as nothing was touched, deleting the object is enough to undo a restore.
func TestDeletingARestoreCancelsItsRequest(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	startOperator(t, s.namespace)
	s.put("etcd.backup", snap)
	c := s.cluster("c")
	r := s.restore("r", "etcd.backup")
	s.awaitRequest(c, r)
	if err := kube.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	s.eventually("the request is cancelled", func() bool {
		s.get(c)
		return c.Annotations[v1beta2.AnnotationRestore] == ""
	})
	// The next one is not held up.
	second := s.restore("second", "etcd.backup")
	s.awaitRequest(c, second)
	// A request that somebody else removes is not made again.
	patch := client.MergeFrom(c.DeepCopy())
	delete(c.Annotations, v1beta2.AnnotationRestore)
	s.await(second, "requested", func() bool { return second.Status.RequestTime != nil })
	if err := kube.Patch(t.Context(), c, patch); err != nil {
		t.Fatal(err)
	}
	s.awaitRefusal(second, "TakenBack")
}

func TestABackupThatIsReplacedEndsItsRestore(t *testing.T) {
	t.Parallel()
	for name, replacement := range map[string]func() []byte{
		"longer":           func() []byte { return slices.Concat(snap, snap) },
		"shorter":          func() []byte { return snap[:len(snap)/2] },
		"of the same size": func() []byte { other := bytes.Clone(snap); other[len(other)/2]++; return other },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stores.StartS3(t))
			p := startOperator(t, s.namespace)
			s.put("etcd.backup", snap)
			c := s.cluster("c")
			r := s.restore("r", "etcd.backup")
			request := s.awaitRequest(c, r)
			s.await(r, "requested", func() bool { return r.Status.RequestTime != nil })
			s.setStatus(c, made(r, v1beta2.RestoreStageFilling, "", 0))
			s.await(r, "fetching", func() bool { return r.Status.Phase == v1beta2.RestorePhaseFetching })
			s.put("etcd.backup", replacement())
			ticket := s.ticket(request)
			authorization := "Bearer " + string(ticket.Data[v1beta2.RestoreTicketToken])
			if status, body, err := s.fetch(p, request, ticket.Data[v1beta2.RestoreTicketCA], authorization); err == nil && status == http.StatusOK {
				t.Errorf("the member got %d bytes of another object", len(body))
			}
			s.await(r, "given up", func() bool { return r.Status.CompletionTime != nil })
			if ready := meta.FindStatusCondition(r.Status.Conditions, "Ready"); ready.Reason != "BackupReplaced" {
				t.Errorf("Ready is %+v", ready)
			}
			s.eventually("the request is withdrawn", func() bool {
				s.get(c)
				_, asked := c.Annotations[v1beta2.AnnotationRestore]
				return !asked
			})
		})
	}
}
