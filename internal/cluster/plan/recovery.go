// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// survivorBump is by how much the revision is raised when a survivor's data is taken: more
// than a leader can have been ahead of a member that was connected. Clients that have
// seen what is lost are notified that it is compacted, instead of seeing time go back.
const survivorBump = 1_000_000

// A majority that is lost is recovered as spec.recovery asks for. Nothing of it can be undone by members that
// come back later, so it waits: for as long as the spec says, and until nobody can come back with data that the
// others do not have, unless the user gives that up.

// recoveryMode is what the spec asks for when a majority is lost.
func (p *planning) recoveryMode() v1beta2.RecoveryMode {
	if p.Cluster.Spec.Recovery == nil || p.Cluster.Spec.Recovery.Mode == "" {
		return v1beta2.RecoveryManual
	}
	return p.Cluster.Spec.Recovery.Mode
}

// isRecoveryDue reports whether the spec asks for this recovery, and nothing is waited for any longer.
func (p *planning) isRecoveryDue(mode v1beta2.RecoveryMode) bool {
	return p.recoveryMode() == mode && p.recoveryWait() <= 0 && !p.isDataAwaited()
}

// isDataAwaited reports whether the recovery waits for data that may come back.
func (p *planning) isDataAwaited() bool {
	return len(p.mayComeBack()) > 0 && !p.Cluster.Spec.Recovery.AllowDataLoss
}

// recoveryWait is how much of the patience is left.
func (p *planning) recoveryWait() time.Duration {
	patience := time.Duration(v1beta2.DefaultRecoveryPatienceSeconds) * time.Second
	if s := p.Cluster.Spec.Recovery.PatienceSeconds; s != nil {
		patience = seconds(*s)
	}
	since := p.Cluster.Status.QuorumLostSince
	if since == nil {
		// The status does not show it yet; without that the time would not survive a
		// restart of the operator.
		return max(patience, soon)
	}
	return patience - p.Now.Sub(since.Time)
}

// recoveryLookAgain is when the patience is over; zero where nothing begins by itself then.
func (p *planning) recoveryLookAgain() time.Duration {
	if p.recoveryMode() == v1beta2.RecoveryManual {
		return 0
	}
	return max(p.recoveryWait(), 0)
}

// recoverFromSurvivor makes a new cluster of the data of the member that is furthest. It
// gives a snapshot for that, and is not touched until the new seed has it.
func recoverFromSurvivor(p *planning) verdict {
	m := p.survivor()
	if !p.isRecoveryDue(v1beta2.RecoverySurvivor) || m == nil {
		return verdict{}
	}
	if notYet := p.newSeedHasToWait(); notYet != nil {
		return *notYet
	}
	loss := fmt.Sprintf("Writes that had reached only %s, and not %s (index %d, term %d), are lost.", strings.Join(p.missing(), " and "), m.Name, m.Status.AppliedIndex, m.Status.Term)
	record := p.restoreRecord(&v1beta2.BootstrapRestore{UID: "survivor-" + p.NewName, Member: m.Name, RevisionBump: survivorBump, Loss: loss})
	return do(RecordStatus{About: About{
		Member: record.Seed, Event: EventRestoring, Warning: true,
		Why: fmt.Sprintf("the majority is lost: make a new cluster of the data of member %s. %s", m.Name, loss),
	}, Status: p.statusWith(record)})
}

// recoverFromBackup asks the restore operator for the newest backup, by an object of a
// name that belongs to the cluster which was lost: it is asked once for each.
func recoverFromBackup(p *planning) verdict {
	if !p.isRecoveryDue(v1beta2.RecoveryBackup) || p.isRestoreRequested() {
		return verdict{}
	}
	name, backup := p.Cluster.Spec.Recovery.BackupName, p.Recovery.Backup
	if backup == nil {
		return waitFor(RecoveryImpossible, "spec.recovery.mode is Backup, but EtcdBackup %s does not exist in namespace %s", name, p.Cluster.Namespace)
	}
	newest, ok := newestBackup(backup)
	if !ok {
		return waitFor(RecoveryImpossible, "spec.recovery.mode is Backup, but EtcdBackup %s has not completed a backup yet", name)
	}
	if !kind.WrittenTo(backup, newest.path) {
		return waitFor(RecoveryImpossible, "spec.recovery.mode is Backup, but EtcdBackup %s has not completed a backup in the store that its spec names now; the last one is %s: restore that with an EtcdRestore, or set the spec back",
			name, backup.Status.URL)
	}
	age := p.Now.Sub(newest.at).Round(time.Second)
	return do(CreateObject{About: About{
		Event: EventRestoring, Warning: true,
		Why: fmt.Sprintf("the majority is lost: restore the newest backup of EtcdBackup %s, %s, made %s ago (revision %d). All writes since then are lost", name, newest.path, age, newest.revision),
	}, Object: p.forServing(recoveryRestore(p.Cluster, backup, newest))})
}

// isRestoreRequested reports whether the restore of this loss has been asked for.
func (p *planning) isRestoreRequested() bool {
	return p.Recovery.Restore != nil && p.Recovery.Restore.DeletionTimestamp == nil
}

// recoveryAdvice says what will be done about a majority that is lost, or what the user can do.
func (p *planning) recoveryAdvice() string {
	mode := p.recoveryMode()
	switch {
	case mode == v1beta2.RecoveryManual:
		return p.manualAdvice()
	case p.recoveryWait() > 0:
		return fmt.Sprintf("spec.recovery.mode is %s: unless they come back, at %s %s", mode, p.timeIn(p.recoveryWait()), p.whatRecoveryDoes(mode))
	case p.isDataAwaited():
		return fmt.Sprintf("spec.recovery.mode is %s, but the data of %s may still exist: bring it back, delete what is left of it, "+
			"or set spec.recovery.allowDataLoss to continue without it", mode, strings.Join(p.mayComeBack(), ", "))
	case mode == v1beta2.RecoverySurvivor:
		return p.survivorAdvice()
	case p.isRestoreRequested():
		return p.backupAdvice(p.Recovery.Restore)
	}
	return ""
}

// manualAdvice tells a user who has to decide what there is to decide on.
func (p *planning) manualAdvice() string {
	text := "If they are lost for good, restore a backup with an EtcdRestore"
	if m := p.survivor(); m != nil {
		text += fmt.Sprintf(", or set spec.recovery.mode to Survivor to make a new cluster of the data of member %s, the most advanced one that answers (writes that had not reached it are lost)", m.Name)
	}
	return text
}

// whatRecoveryDoes says what will be done, and what may be lost by it.
func (p *planning) whatRecoveryDoes(mode v1beta2.RecoveryMode) string {
	if mode == v1beta2.RecoveryBackup {
		return "the newest backup of EtcdBackup " + p.Cluster.Spec.Recovery.BackupName + " is restored, and all writes since then are lost"
	}
	if m := p.survivor(); m != nil {
		return fmt.Sprintf("a new cluster is made of the data of member %s, and writes that had not reached it are lost", m.Name)
	}
	return "a new cluster would be made of the data of a member that answers, but none does"
}

func (p *planning) survivorAdvice() string {
	if m := p.survivor(); m != nil {
		return "spec.recovery.mode is Survivor: a new member is about to be made of the data of member " + m.Name
	}
	return "spec.recovery.mode is Survivor, but no member answers whose data could be used: restore a backup with an EtcdRestore"
}

func (p *planning) backupAdvice(restore *v1beta2.EtcdRestore) string {
	text := fmt.Sprintf("EtcdRestore %s restores the newest backup of EtcdBackup %s", restore.Name, p.Cluster.Spec.Recovery.BackupName)
	if restore.Status.Reason != "" {
		text += fmt.Sprintf(": %s. Delete it to retry", strings.TrimSuffix(restore.Status.Reason, "."))
	}
	return text
}

// survivor is the member whose data is the most that is left: what one member has applied
// is the beginning of what any other has, so that the index alone tells. The term does
// not: members without a leader may raise it by themselves.
func (p *planning) survivor() *view.Member {
	var best *view.Member
	for i := range p.members {
		m := &p.members[i]
		if m.Status == nil || m.Status.Learner || m.IsTerminating() || FormatID(m.Status.ClusterID) != p.Cluster.Status.ClusterID || m.Status.IsCorrupt() {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(m.Status.AppliedIndex, best.Status.AppliedIndex), cmp.Compare(m.Status.Term, best.Status.Term)) > 0 {
			best = m
		}
	}
	return best
}

// mayComeBack names the members that do not answer and whose data may still be somewhere.
func (p *planning) mayComeBack() []string {
	var names []string
	for i := range p.members {
		if m := &p.members[i]; m.Status == nil && p.provenLost(m) == "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// provenLost says why a member's data does not exist any more; empty where it may. That a
// node does not answer, or that etcd crashes, proves nothing. Nor does a pod that is being
// deleted: Kubernetes deletes those on a node that it cannot reach, and etcd runs on there; where
// the node can be reached, the pod is gone in a moment. A member without a pod and without a
// volume is not among those that are asked about: nothing is left of it.
func (p *planning) provenLost(m *view.Member) string {
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
	if node, known := p.Nodes[m.Pod.Spec.NodeName]; known && !node.Exists {
		return "its node is deleted, and its data with it"
	}
	return ""
}

// missing names the members of the last list that do not answer.
func (p *planning) missing() []string {
	var names []string
	for _, known := range p.Cluster.Status.MemberStatuses {
		if m := p.member(known.Name); m == nil || m.Status == nil {
			names = append(names, known.Name)
		}
	}
	return names
}
