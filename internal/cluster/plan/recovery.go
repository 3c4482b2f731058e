// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// survivorBump is by how much the revision is raised when a survivor's data is taken: more
// than a leader can have been ahead of a member that was connected. Clients that have
// seen what is lost are told that it is compacted, instead of seeing time go back.
const survivorBump = 1_000_000

// recovery is what is done after the loss of a majority, as spec.recovery asks for: a
// step, or what to tell the user. Nothing of it can be undone by members that come back
// later, so it waits: for as long as the spec says, and until nobody can come back with
// data that the others do not have, unless the user gives that up.
func (p *planner) recovery() (*Step, string) {
	mode := p.recoveryMode()
	if mode == v1beta2.RecoveryManual {
		return nil, p.whatCouldBeDone()
	}
	if left := p.recoveryWait(); left > 0 {
		p.again(left)
		return nil, fmt.Sprintf("spec.recovery.mode is %s: unless they come back, at %s %s", mode, p.timeIn(left), p.whatRecoveryDoes(mode))
	}
	if back := p.mayComeBack(); len(back) > 0 && !p.cluster.Spec.Recovery.AllowDataLoss {
		return nil, fmt.Sprintf("spec.recovery.mode is %s, but the data of %s is not known to be gone: bring it back, delete what is left of it, "+
			"or set spec.recovery.allowDataLoss to go on without it", mode, strings.Join(back, ", "))
	}
	if mode == v1beta2.RecoverySurvivor {
		return p.recoverFromSurvivor()
	}
	return p.recoverFromBackup()
}

// recoveryWait is how much of the patience is left.
func (p *planner) recoveryWait() time.Duration {
	patience := time.Duration(v1beta2.DefaultRecoveryPatienceSeconds) * time.Second
	if s := p.cluster.Spec.Recovery.PatienceSeconds; s != nil {
		patience = time.Duration(*s) * time.Second
	}
	since := p.cluster.Status.QuorumLostSince
	if since == nil {
		// The status has not said so yet; without that the time would not survive a
		// restart of the operator.
		return max(patience, soon)
	}
	return patience - p.s.Now.Sub(since.Time)
}

// whatRecoveryDoes says what will be done, and what may be lost by it.
func (p *planner) whatRecoveryDoes(mode v1beta2.RecoveryMode) string {
	if mode == v1beta2.RecoveryBackup {
		return "the newest backup of EtcdBackup " + p.cluster.Spec.Recovery.BackupName + " is restored, and all that was written since is lost"
	}
	if m := p.survivor(); m != nil {
		return fmt.Sprintf("a new cluster is made of the data of member %s, and what was written but had not reached it is lost", m.Name)
	}
	return "a new cluster would be made of the data of a member that answers, but none does"
}

// whatCouldBeDone tells a user who has to decide what there is to decide on.
func (p *planner) whatCouldBeDone() string {
	text := "If they are lost for good, restore a backup with an EtcdRestore"
	if m := p.survivor(); m != nil {
		text += fmt.Sprintf(", or set spec.recovery.mode to Survivor to make a new cluster of the data of member %s, which is the furthest of those that answer (what had not reached it is lost)", m.Name)
	}
	return text
}

// survivor is the member whose data is the most that is left: what one member has applied
// is the beginning of what any other has, so that the index alone tells. The term does
// not: members without a leader may raise it by themselves.
func (p *planner) survivor() *snapshot.Member {
	var best *snapshot.Member
	for i := range p.members {
		m := &p.members[i]
		if m.Status == nil || m.Status.Learner || m.IsTerminating() || FormatID(m.Status.ClusterID) != p.cluster.Status.ClusterID || m.Status.IsCorrupt() {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(m.Status.AppliedIndex, best.Status.AppliedIndex), cmp.Compare(m.Status.Term, best.Status.Term)) > 0 {
			best = m
		}
	}
	return best
}

// mayComeBack names the members that do not answer and whose data may still be somewhere.
func (p *planner) mayComeBack() []string {
	var names []string
	for i := range p.members {
		if m := &p.members[i]; m.Status == nil && p.provenGone(m) == "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// provenGone says why a member's data does not exist any more; empty where it may. That a
// node does not answer, or that etcd crashes, proves nothing. Nor does a pod that is being
// deleted: Kubernetes deletes those on a node that it cannot reach, and etcd runs on there; where
// the node can be reached, the pod is gone in a moment. A member without a pod and without a
// volume is not among those that are asked about: nothing is left of it.
func (p *planner) provenGone(m *snapshot.Member) string {
	if why := lostVolume(m.Claim); why != "" {
		return why
	}
	switch pod := m.Pod; {
	case pod == nil:
		return ""
	case lostData(pod):
		return "its data directory is empty"
	case m.Claim != nil:
		return ""
	case isFinished(pod):
		return "its pod has ended, and its data with it"
	case pod.Spec.NodeName == "":
		return "its pod has never had a node"
	}
	if node, known := p.s.Nodes[m.Pod.Spec.NodeName]; known && !node.Exists {
		return "its node is deleted, and its data with it"
	}
	return ""
}

// missing names the members of the last list that do not answer.
func (p *planner) missing() []string {
	var names []string
	for _, known := range p.cluster.Status.MemberStatuses {
		if m := p.member(known.Name); m == nil || m.Status == nil {
			names = append(names, known.Name)
		}
	}
	return names
}

// recoverFromSurvivor makes a new cluster of the data of the member that is furthest. It
// gives a snapshot for that, and is not touched until the new seed has it.
func (p *planner) recoverFromSurvivor() (*Step, string) {
	m := p.survivor()
	if m == nil {
		return nil, "spec.recovery.mode is Survivor, but no member answers whose data could be taken: restore a backup with an EtcdRestore"
	}
	if !p.secretsForNewPods() || p.isNameTaken() {
		return nil, "spec.recovery.mode is Survivor: a new member is about to be made of the data of member " + m.Name
	}
	step := p.recordRestore(p.cluster.Status.Bootstrap, &v1beta2.BootstrapRestore{
		UID: "survivor-" + p.s.NewName, Member: m.Name, RevisionBump: survivorBump,
		Loss: fmt.Sprintf("Writes that had reached only %s, and not %s (index %d, term %d), are lost.", strings.Join(p.missing(), " and "), m.Name, m.Status.AppliedIndex, m.Status.Term),
	}, "")
	from := step.Facts.Bootstrap.Restore
	step.Why = fmt.Sprintf("the majority is lost: make a new cluster of the data of member %s. %s", m.Name, from.Loss)
	step.Warning = true
	return step, ""
}

// recoverFromBackup asks the restore operator for the newest backup, by an object of a
// name that belongs to the cluster which was lost: it is asked once for each.
func (p *planner) recoverFromBackup() (*Step, string) {
	name := p.cluster.Spec.Recovery.BackupName
	backup, restore := p.s.Recovery.Backup, p.s.Recovery.Restore
	switch {
	case restore != nil && restore.DeletionTimestamp == nil:
		text := fmt.Sprintf("EtcdRestore %s restores the newest backup of EtcdBackup %s", restore.Name, name)
		if restore.Status.Reason != "" {
			text += fmt.Sprintf(": %s. Delete it to have it tried again", strings.TrimSuffix(restore.Status.Reason, "."))
		}
		return nil, text
	case backup == nil:
		p.refuse(RecoveryImpossible, "spec.recovery.mode is Backup, but there is no EtcdBackup %s in namespace %s", name, p.cluster.Namespace)
		return nil, ""
	}
	newest, ok := newestBackup(backup)
	if !ok {
		p.refuse(RecoveryImpossible, "spec.recovery.mode is Backup, but EtcdBackup %s has made no backup yet", name)
		return nil, ""
	}
	if !wroteThere(backup, newest.path) {
		p.refuse(RecoveryImpossible, "spec.recovery.mode is Backup, but EtcdBackup %s has made no backup yet where its spec says now; the last one is %s: restore that with an EtcdRestore, or let the spec name its place again",
			name, backup.Status.URL)
		return nil, ""
	}
	age := p.s.Now.Sub(newest.at).Round(time.Second)
	return &Step{
		Kind: Create, Event: EventRestoring, Warning: true, Object: recoveryRestore(p.cluster, backup, newest.path),
		Why: fmt.Sprintf("the majority is lost: restore the newest backup of EtcdBackup %s, %s, made %s ago (revision %d). All that was written since is lost", name, newest.path, age, newest.revision),
	}, ""
}

type goodBackup struct {
	// path is <bucket>/<key>.
	path     string
	at       time.Time
	revision int64
}

// newestBackup is the newest one that an EtcdBackup knows to be good.
func newestBackup(b *v1beta2.EtcdBackup) (goodBackup, bool) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(backupPath(b), "/"), "/")
	switch {
	case !ok:
		return goodBackup{}, false
	case len(b.Status.Backups) > 0:
		newest := slices.MaxFunc(b.Status.Backups, func(a, c v1beta2.KeptBackup) int { return a.Time.Compare(c.Time.Time) })
		return goodBackup{bucket + "/" + newest.Name, newest.Time.Time, newest.EtcdRevision}, true
	case b.Status.LastSuccessDate.IsZero():
		return goodBackup{}, false
	}
	return goodBackup{bucket + "/" + key, b.Status.LastSuccessDate.Time, b.Status.EtcdRevision}, true
}

// schemes are how the addresses of backups in the stores begin.
var schemes = map[v1beta2.BackupStorageType][]string{
	v1beta2.BackupStorageTypeS3:   {"s3"},
	v1beta2.BackupStorageTypeABS:  {"https", "http"},
	v1beta2.BackupStorageTypeGCS:  {"gs"},
	v1beta2.BackupStorageTypeOSS:  {"oss"},
	v1beta2.BackupStorageTypeFile: {"file"},
}

// wroteThere reports whether the last backup is in the store that the spec names. Where it was written
// to another one, before the spec was changed, the names that are known are of objects over there.
func wroteThere(b *v1beta2.EtcdBackup, path string) bool {
	last, err := url.Parse(b.Status.URL)
	if err != nil || b.Status.URL == "" {
		return true // an older operator did not say
	}
	if !slices.Contains(schemes[b.Spec.StorageType], last.Scheme) {
		return false
	}
	where := "/" + last.Host + last.Path
	if len(b.Status.Backups) == 0 {
		return strings.HasSuffix(where, "/"+path)
	}
	bucket, _, _ := strings.Cut(path, "/")
	return strings.Contains(where, "/"+bucket+"/")
}

func backupPath(b *v1beta2.EtcdBackup) string {
	s := &b.Spec
	switch {
	case s.StorageType == v1beta2.BackupStorageTypeS3 && s.S3 != nil:
		return s.S3.Path
	case s.StorageType == v1beta2.BackupStorageTypeABS && s.ABS != nil:
		return s.ABS.Path
	case s.StorageType == v1beta2.BackupStorageTypeGCS && s.GCS != nil:
		return s.GCS.Path
	case s.StorageType == v1beta2.BackupStorageTypeOSS && s.OSS != nil:
		return s.OSS.Path
	case s.StorageType == v1beta2.BackupStorageTypeFile && s.File != nil:
		return s.File.Path
	}
	return ""
}

// recoveryRestore asks for a backup to be restored from where the EtcdBackup wrote it.
func recoveryRestore(c *v1beta2.EtcdCluster, b *v1beta2.EtcdBackup, path string) *v1beta2.EtcdRestore {
	r := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{
			Name: manifests.RecoveryRestoreName(c), Namespace: c.Namespace, Labels: manifests.ClusterLabels(c.Name), OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
		},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: b.Spec.StorageType, EtcdCluster: v1beta2.EtcdClusterRef{Name: c.Name}, EncryptionSecret: b.Spec.EncryptionSecret,
		},
	}
	if scope, ok := c.Annotations[v1beta2.AnnotationScope]; ok { // for the operators that serve the cluster
		r.Annotations = map[string]string{v1beta2.AnnotationScope: scope}
	}
	switch from, to := &b.Spec.BackupSource, &r.Spec.RestoreSource; b.Spec.StorageType {
	case v1beta2.BackupStorageTypeS3:
		to.S3 = &v1beta2.S3RestoreSource{Path: path, AWSSecret: from.S3.AWSSecret, Endpoint: from.S3.Endpoint, ForcePathStyle: from.S3.ForcePathStyle, Profile: from.S3.Profile}
	case v1beta2.BackupStorageTypeABS:
		to.ABS = &v1beta2.ABSRestoreSource{Path: path, ABSSecret: from.ABS.ABSSecret, Endpoint: from.ABS.Endpoint}
	case v1beta2.BackupStorageTypeGCS:
		to.GCS = &v1beta2.GCSRestoreSource{Path: path, GCPSecret: from.GCS.GCPSecret, Endpoint: from.GCS.Endpoint}
	case v1beta2.BackupStorageTypeOSS:
		to.OSS = &v1beta2.OSSRestoreSource{Path: path, OSSSecret: from.OSS.OSSSecret, Endpoint: from.OSS.Endpoint}
	case v1beta2.BackupStorageTypeFile:
		to.File = &v1beta2.FileRestoreSource{Path: path}
	}
	return r
}
