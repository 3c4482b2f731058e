// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// The cluster comes into being once in the life of the object. No memory, no cache and no look at which
// pods exist can promise that: each can be lost, late or undone. A chain of writes can, each made only onto
// the object as it was seen:
//
//	status: seed, token        this name, and no other, is the first member
//	pod <seed>, gated          Kubernetes does not schedule it: nothing can run
//	status: the pod's UID      this pod, and no other, may start the cluster
//	pod <seed>, gate removed   etcd runs with --initial-cluster-state=new
//	status: cluster id         the cluster exists; from here on etcd is asked
//
// While the UID is not recorded no etcd can have run, so whatever went wrong may be
// repeated. Once it is, a seed that vanished may have held data: then the
// operator stops and asks the user. On a volume that data is still there, so that another
// pod may go on with it; where etcd was seen running on the volume, which is noted on
// it, such a pod does not start if the data is not. The one way back, for a spec that was corrected,
// is a pod that provably never served: it is held by a finalizer, deleted, and looked
// at when nothing can happen to it any more.

// bootstrapping is how the cluster comes into being, or is replaced by a restore.
var bootstrapping = table{
	{Name: "find-record", Decide: findRecord},
	{Name: "begin-restore", Decide: beginRestore},
	{Name: "cancel-restore", Decide: cancelRestore},
	{Name: "delete-previous-pods", Decide: deletePreviousPods},
	{Name: "refuse-unknown-incarnation", Decide: refuseUnknownIncarnation},
	{Name: "start-over", Decide: startOver},
	{Name: "adopt", Decide: adopt},
	{Name: "refuse-taken-restore-name", Decide: refuseTakenRestoreName},
	{Name: "request-bootstrap-restore", Decide: requestBootstrapRestore},
	{Name: "retry-bootstrap-restore", Decide: retryBootstrapRestore},
	{Name: "await-bootstrap-restore", Decide: awaitBootstrapRestore},
	{Name: "choose-seed", Decide: chooseSeed},
	{Name: "record-cluster", Decide: recordCluster},
	{Name: "await-started-seed", Decide: awaitStartedSeed},
	{Name: "restore-seed", Decide: restoreSeed},
	{Name: "start-new-seed", Decide: startNewSeed},
}

// whileSeedStarts is what there is time for meanwhile.
var whileSeedStarts = table{
	{Name: "create-client-service", Decide: createClientService},
	{Name: "grow-volumes", Decide: growVolumes},
}

// bootstrap sees to it that the cluster exists.
func bootstrap(p *planning) verdict {
	v := bootstrapping.Decide(p)
	if v.Step != nil || !v.Stop {
		return v
	}
	meanwhile := whileSeedStarts.Decide(p)
	v.Waits = append(v.Waits, meanwhile.Waits...)
	if meanwhile.Step != nil {
		v.Step, v.Decision = meanwhile.Step, meanwhile.Decision
	}
	return v
}

// startOver starts an empty cluster where the user agreed to lose what the named seed's cluster held. It counts only
// while nothing of it is left.
func startOver(p *planning) verdict {
	if !p.hasConsentToStartOver() {
		return verdict{}
	}
	return recordSeed(p, "start over with an empty cluster, as the user agreed to")
}

func (p *planning) hasConsentToStartOver() bool {
	consent, given := p.Cluster.Annotations[manifests.AnnotationBootstrapAgain]
	if !given || len(p.Pods) > 0 || len(p.Claims) > 0 || !p.Previous.IsEmpty() || len(p.Unclaimed) > 0 {
		return false
	}
	if !isStarted(p.record) {
		return p.isOfAnotherOperator() || p.hadCluster() != ""
	}
	// A record without a token is of a cluster that was adopted, one of a restore of a cluster that
	// existed: whoever its first member is.
	return consent == p.record.Seed && (p.record.PodUID != "" || p.record.Token == "" || p.record.Restore != nil)
}

// adopt takes over what another operator, or a restore, has made for this object.
// The record has no token: nothing is ever bootstrapped from it.
func adopt(p *planning) verdict {
	if isStarted(p.record) || (len(p.Pods) == 0 && len(p.Claims) == 0) {
		return verdict{}
	}
	first := p.members[0]
	record := &v1beta2.BootstrapStatus{Seed: first.Name}
	if first.Pod != nil {
		record.PodUID = string(first.Pod.UID)
	}
	return do(RecordStatus{About: About{Why: "adopt the members that are there"}, Status: p.statusWith(record)})
}

// chooseSeed is for an object that this operator has not worked on yet. A record without
// a seed says that it has seen the object before anybody had: the phase is its own.
// A status can be lost, so that its word alone does not make an object a new one.
func chooseSeed(p *planning) verdict {
	switch {
	case isStarted(p.record):
		return verdict{}
	case p.hadCluster() != "":
		return stop(OriginUnknown, "%s shows that this object had a cluster, but the status has lost which one, and no pod and no volume of it is left. "+
			"No second cluster is started over a lost one: restore a backup with an EtcdRestore, or set the annotation %s=yes to start over with an empty cluster",
			p.hadCluster(), manifests.AnnotationBootstrapAgain)
	case p.isOfAnotherOperator():
		return stop(OriginUnknown, "Another operator has written the phase %s, but no pod and no volume of its cluster is left. No second cluster is started over a lost one: "+
			"restore a backup, or set the annotation %s=yes to start over with an empty cluster", p.Cluster.Status.Phase, manifests.AnnotationBootstrapAgain)
	}
	return recordSeed(p, "choose the first member")
}

// isOfAnotherOperator reports whether the phase is not ours.
func (p *planning) isOfAnotherOperator() bool {
	return p.record == nil && p.Cluster.Status.Phase != v1beta2.ClusterPhaseNone
}

// hadCluster names what shows that the object had a cluster once, whatever the status says: its budget is created when the
// cluster has answered, and not before, and the EtcdRestore that created the cluster has succeeded. It is empty where nothing does.
func (p *planning) hadCluster() string {
	switch {
	case p.Budget != nil && view.IsOwned(p.Cluster, p.Budget):
		return "PodDisruptionBudget " + p.Budget.Name
	case p.Origin != nil && view.IsOwned(p.Cluster, p.Origin) && p.Origin.Status.Succeeded:
		return "EtcdRestore " + p.Origin.Name
	}
	return ""
}

// recordSeed is the first write of the chain.
func recordSeed(p *planning, why string) verdict {
	if v := awaitSecrets(p); v.Stop {
		return v
	}
	record := &v1beta2.BootstrapStatus{Seed: manifests.MemberName(p.Cluster.Name, p.NewName), Token: p.NewToken}
	if p.record != nil {
		record.LastRequest = p.record.LastRequest
	}
	return do(RecordStatus{About: About{Why: why}, Status: p.statusWith(record)})
}

// recordCluster notes which etcd cluster it is that the seed has started.
func recordCluster(p *planning) verdict {
	if !isStarted(p.record) || p.Cluster.Status.ClusterID != "" || p.Etcd.Membership == nil {
		return verdict{}
	}
	id := FormatID(p.Etcd.Membership.ClusterID)
	why := "the cluster exists"
	if from := p.record.Restore; from != nil {
		if from.Previous != nil && from.Previous.ClusterID == id {
			return stop(MembersDisagree, "The members that answer belong to cluster %s, which the restore has replaced. Nothing is touched: find out where they come from", id)
		}
		why = strings.TrimSpace("the cluster exists again, restored. " + from.Loss)
	}
	status := *p.Cluster.Status.DeepCopy()
	status.ClusterID = id
	return do(RecordStatus{About: About{Why: why, Event: EventBootstrap}, Status: status})
}

// statusWith is the status whose next steps rest on another record. What the status says of another cluster than
// the one it is about from now on is dropped: that one was ready must not be read as news of this one.
func (p *planning) statusWith(record *v1beta2.BootstrapStatus) v1beta2.ClusterStatus {
	status := *p.Cluster.Status.DeepCopy()
	if isStarted(p.record) && p.record.Seed != record.Seed {
		status.Conditions, status.MemberStatuses = nil, nil
		status.CurrentVersion, status.TargetVersion = "", ""
		status.QuorumLostSince = nil
		status.ObservedGeneration = 0 // an observed spec without conditions reads as done
	}
	status.Bootstrap = record
	status.ClusterID = ""
	return status
}

// isAwaitingCluster reports whether a first member of our own has been chosen, and its cluster has not been
// heard of yet. One that was adopted is waited for like any other that lacks its quorum.
func (p *planning) isAwaitingCluster() bool {
	return isStarted(p.record) && p.record.Token != "" && p.Cluster.Status.ClusterID == "" && p.Etcd.Membership == nil
}

// leftToDelete says what is left of the cluster, or of a previous incarnation, and has to go before anybody
// starts over.
func (p *planning) leftToDelete() string {
	var left []string
	for claim := range p.EveryClaim() {
		left = append(left, "the volume claim "+claim.Name)
	}
	for pod := range p.EveryPod() {
		left = append(left, "the pod "+pod.Name)
	}
	if len(left) == 0 {
		return ""
	}
	return "delete " + strings.Join(left, ", ") + " and then "
}
