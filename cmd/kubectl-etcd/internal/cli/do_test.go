// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func newBenchFlags() *genericclioptions.ConfigFlags { return genericclioptions.NewConfigFlags(true) }

func (b *bench) cluster(name string) *v1beta2.EtcdCluster {
	b.t.Helper()
	c, err := b.etcd.EtcdV1beta2().EtcdClusters(namespace).Get(b.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func TestPauseAndResume(t *testing.T) {
	b := newBench(t, clusterOf("c")...)
	contains(t, b.must(exitWell, "pause", "c"), "etcdcluster/c paused")
	if !b.cluster("c").Spec.Paused {
		t.Error("it is not paused")
	}
	contains(t, b.must(exitWell, "pause", "c"), "paused already")
	contains(t, b.must(exitWell, "resume", "c"), "etcdcluster/c resumed")
	if b.cluster("c").Spec.Paused {
		t.Error("it is still paused")
	}
	contains(t, b.must(exitNotFound, "pause", "other"), "there is no EtcdCluster")
}

func TestAnUpgradeIsCheckedBeforeAnythingIsChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		version, typed string
		changes        []func(*v1beta2.EtcdCluster)
		code           int
		says, becomes  string
	}{
		"a patch release":          {"3.6.17", "", nil, exitWell, "version 3.6.17, was 3.6.16", "3.6.17"},
		"a minor release":          {"v3.7.3", "c\n", nil, exitWell, "does not go back to 3.6", "3.7.3"},
		"nobody agrees":            {"3.7.3", "no\n", nil, exitFailed, "nothing was changed", "3.6.16"},
		"a minor release too far":  {"3.8.0", "", nil, exitFailed, "MinorVersionSkipped", "3.6.16"},
		"back":                     {"3.5.35", "", nil, exitFailed, "DowngradeRefused", "3.6.16"},
		"no version":               {"latest", "", nil, exitFailed, "not of the form major.minor.patch", "3.6.16"},
		"a cluster that is not ok": {"3.6.17", "", []func(*v1beta2.EtcdCluster){notReady("MemberUnhealthy", "x")}, exitFailed, "is not healthy", "3.6.16"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, clusterOf("c", tc.changes...)...)
			b.in = tc.typed
			contains(t, b.must(tc.code, "upgrade", "c", tc.version, "--no-wait"), tc.says)
			if got := b.cluster("c").Spec.Version; got != tc.becomes {
				t.Errorf("version is %s, not %s", got, tc.becomes)
			}
		})
	}
}

func TestAnUpgradeIsFollowedUntilAllMembersRunIt(t *testing.T) {
	c := clusterOf("c")[0].(*v1beta2.EtcdCluster)
	if text, done, err := upgradeState(c, 2, "3.6.17"); done || err != nil || !strings.HasPrefix(text, "0 of 3 members run 3.6.17") {
		t.Errorf("%q %v %v", text, done, err)
	}
	for i := range c.Status.MemberStatuses {
		c.Status.MemberStatuses[i].Version = "3.6.17"
	}
	if _, done, _ := upgradeState(c, 2, "3.6.17"); done {
		t.Error("it is done before the operator has seen the change")
	}
	c.Status.ObservedGeneration = 2
	if _, done, err := upgradeState(c, 2, "3.6.17"); !done || err != nil {
		t.Error("it is not done", err)
	}
	c.Status.Conditions = append(c.Status.Conditions, v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionStalled, Status: "True", Reason: "InvalidSpec", Message: "x"})
	if _, _, err := upgradeState(c, 2, "3.6.17"); err == nil {
		t.Error("an upgrade that does not go on is waited for")
	}
}

func (b *bench) backups() []v1beta2.EtcdBackup {
	b.t.Helper()
	list, err := b.etcd.EtcdV1beta2().EtcdBackups(namespace).List(b.t.Context(), metav1.ListOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

func TestABackupGoesToWhereTheOthersGo(t *testing.T) {
	b := newBench(t, append(clusterOf("c"), backupOf("nightly", "c"), backupOf("another", "other"))...)
	contains(t, b.must(exitWell, "backup", "c", "--no-wait", "--name", "now", "--verify"), "etcdbackup/now created")
	all := b.backups()
	made := all[slices.IndexFunc(all, func(o v1beta2.EtcdBackup) bool { return o.Name == "now" })]
	if !strings.HasPrefix(made.Spec.S3.Path, "bucket/nightly-manual-") || made.Spec.S3.AWSSecret != "aws" || made.Spec.BackupPolicy != nil ||
		made.Spec.EncryptionSecret != "keys" || made.Spec.Verify != v1beta2.BackupVerificationRestore {
		t.Errorf("%+v", made.Spec)
	}
	// What the command has made itself is no example for the next one.
	b.must(exitWell, "backup", "c", "--no-wait", "--name", "again")
}

func TestABackupNeedsAPlace(t *testing.T) {
	contains(t, newBench(t, clusterOf("c")...).must(exitFailed, "backup", "c"), "use --path and --secret")
	two := newBench(t, append(clusterOf("c"), backupOf("b", "c"), backupOf("a", "c"))...)
	contains(t, two.must(exitFailed, "backup", "c"), "choose one with --like (a, b)")
	contains(t, two.must(exitFailed, "backup", "c", "--path", "bucket/key"), "--secret must name")
	contains(t, two.must(exitNotFound, "backup", "c", "--like", "none"), `there is no EtcdBackup "none"`)
	contains(t, two.must(exitFailed, "backup", "c", "--path", "bucket/key", "--secret", "aws"), "is replaced", "nothing was changed")
	two.in = "yes\n"
	two.must(exitWell, "backup", "c", "--path", "bucket/key", "--secret", "aws", "--no-wait")
	if n := len(two.backups()); n != 3 {
		t.Errorf("%d EtcdBackups", n)
	}
}

func TestTheStateOfABackup(t *testing.T) {
	made := backupOf("b", "c")
	if text, done, _ := backupState(made); done || !strings.Contains(text, "waiting for the etcd-backup-operator") {
		t.Error(text)
	}
	made.Status.ObservedGeneration = 1
	made.Status.Run = &v1beta2.BackupRun{Progress: &v1beta2.BackupProgress{Bytes: 1 << 20, OfBytes: 4 << 20, BytesPerSecond: 512 << 10}}
	if text, done, _ := backupState(made); done || !strings.Contains(text, "██████░░░░░░░░░░░░░░░░░░  25%  1.0 MiB of 4.0 MiB  512 KiB/s") {
		t.Error(text)
	}
	made.Status.Run, made.Status.Succeeded, made.Status.Size = nil, true, 4<<20
	if text, done, _ := backupState(made); !done || !strings.Contains(text, "100%") {
		t.Error(text)
	}
	made.Status.Succeeded = false
	made.Status.Conditions = []metav1.Condition{{Type: "Stalled", Status: "True", Reason: "AccessDenied", Message: "no"}}
	if _, _, err := backupState(made); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Error(err)
	}
}

func kept(b *v1beta2.EtcdBackup) {
	for i, name := range []string{"nightly_v9", "nightly_v7"} {
		b.Status.Backups = append(b.Status.Backups, v1beta2.KeptBackup{Name: name, EtcdRevision: int64(9 - 2*i), Time: metav1.NewTime(time.Now().Add(-time.Duration(i+1) * time.Hour))})
	}
}

func TestARestoreSaysWhatIsLostAndAsks(t *testing.T) {
	b := newBench(t, append(clusterOf("c"), backupOf("nightly", "c", kept))...)
	restores := func() []v1beta2.EtcdRestore {
		list, err := b.etcd.EtcdV1beta2().EtcdRestores(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return list.Items
	}
	b.in = "yes\n" // the name of the cluster is asked for
	contains(t, b.must(exitFailed, "restore", "c", "--from", "nightly"), "Everything that was written after", "60m ago) is lost", "nothing was changed")
	if len(restores()) != 0 {
		t.Fatal("it was restored without consent")
	}
	b.in = "c\n"
	b.must(exitWell, "restore", "c", "--from", "nightly", "--no-wait")
	if r := restores(); len(r) != 1 || r[0].Spec.S3.Path != "bucket/nightly_v9" || r[0].Spec.EncryptionSecret != "keys" || r[0].Spec.EtcdCluster.Name != "c" {
		t.Errorf("%+v", r)
	}
	contains(t, b.must(exitNotFound, "restore", "c", "--from", "nightly", "--backup", "none", "--yes"), `has no backup "none"`)
	contains(t, b.must(exitFailed, "restore", "c"), "name the EtcdBackup with --from")
	contains(t, b.must(exitWell, "restore", "fresh", "--from", "nightly", "--backup", "nightly_v7", "--no-wait"), "does not exist: it is created")
}

func TestTheStateOfARestore(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rate := &rate{now: func() time.Time { return now }}
	r := &v1beta2.EtcdRestore{}
	r.Status.Phase, r.Status.Backup = v1beta2.RestorePhaseFetching, &v1beta2.RestoredBackup{Size: 100 << 10}
	if _, done, err := restoreState(r, rate); done || err != nil {
		t.Error(done, err)
	}
	now = now.Add(2 * time.Second)
	r.Status.FetchedBytes = 50 << 10
	if text, _, _ := restoreState(r, rate); !strings.Contains(text, "50%  50 KiB of 100 KiB  25 KiB/s") {
		t.Error(text)
	}
	r.Status.Phase = v1beta2.RestorePhaseDone
	if _, done, err := restoreState(r, rate); !done || err != nil {
		t.Error(done, err)
	}
	r.Status.Phase, r.Status.Reason = v1beta2.RestorePhaseFailed, "no such object"
	if _, _, err := restoreState(r, rate); err == nil || !strings.Contains(err.Error(), "no such object") {
		t.Error(err)
	}
}
