// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

// mutant is a deliberate fault: one text of one file is replaced by another.
type mutant struct {
	name string
	// file is relative to internal/cluster.
	file     string
	old, new string
}

// mutants are faults that an operator of etcd can have. Each has to be caught.
var mutants = []mutant{
	{"quorum is half of the voters", "snapshot/quorum.go", "return voters/2 + 1 }", "return voters / 2 }"},
	{"one healthy voter counts as a quorum", "snapshot/quorum.go", "v.Healthy >= Quorum(v.Voters) }", "v.Healthy > 0 }"},
	{"everything with our labels is ours", "observe/observe.go", "if snapshot.IsOwned(s.Cluster, &claim) ||", "if true ||"},
	{"without quorum the operator goes on", "plan/quorum.go", `p.stop(QuorumLost,`, `p.refuse(QuorumLost,`},
	{"members that wait for a leader are taken for gone", "plan/quorum.go", `p.stop(NoLeader,`, `p.refuse(NoLeader,`},
	{"all data lost: start over", "plan/quorum.go", "case len(p.s.Pods) == 0 && len(p.s.Claims) == 0:", "case len(p.s.Pods) == 0 && len(p.s.Claims) == 0:\n\t\treturn p.recordSeed(\"start over\")"},
	{"pods are not given back without quorum", "plan/quorum.go", "p.first(p.correct, p.revive)", "p.first(p.correct)"},
	{"seed lost: start another one", "plan/bootstrap.go", "p.seedLost(record)\n\treturn nil", "return forgetPod(record, \"again\")"},
	{"the seed's pod is not recorded before it may start", "plan/bootstrap.go", "next := record.DeepCopy()\n\t\tnext.PodUID = string(pod.UID)", "next := record.DeepCopy()\n\t\tnext.PodUID = \"any\""},
	{"a first report looks like another operator's", "report/report.go", "status.Bootstrap = &v1beta2.BootstrapStatus{}", "_ = status"},
	{"the seed is not gated", "manifests/pod.go", "pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: SchedulingGate}}", "_ = SchedulingGate"},
	{"every member starts a new cluster", "manifests/pod.go", `state := "existing"`, `state := "new"`},
	{"members join with a list of themselves", "plan/members.go", "for _, name := range p.peerNames() {", "for _, name := range p.peerNames()[:1] {"},
	{"a voter is given up without projecting the quorum", "plan/members.go", "after := p.votes.AfterRemoving(m.IsHealthy()); !after.HasQuorum() {", "after := p.votes.AfterRemoving(m.IsHealthy()); !after.HasQuorum() && false {"},
	{"dead voters are not given up", "plan/members.go", "if !m.IsVoter() {\n\t\t\tcontinue", "if true {\n\t\t\tcontinue"},
	{"dead learners are not given up", "plan/members.go", "if !m.IsLearner() {\n\t\t\tcontinue", "if true {\n\t\t\tcontinue"},
	{"volumes of removed members stay", "plan/members.go", "case m.Pod == nil && m.Claim != nil && m.Claim.DeletionTimestamp == nil:", "case false:"},
	{"pods of removed members stay", "plan/members.go", "case m.Pod != nil && m.Pod.DeletionTimestamp == nil:", "case false:"},
	{"the last voter does not write down that it is alone", "plan/members.go", "p.votes.Voters == 1 && m.IsVoter()", "p.votes.Voters < 0 && m.IsVoter()"},
	{"one member too many is always wanted", "plan/members.go", "if p.wantsSurge() {", "if true {"},
	{"a pod that has ended stays", "plan/members.go", "case isFinished(m.Pod):\n\t\treturn &Step{Kind: Delete, Member: m.Name, From: m.Pod, Why: \"the pod has ended; the member gets a new one on its own volume\"}\n\tcase waitsToJoin", "case waitsToJoin"},
	{"no successor for what cannot be changed in place", "plan/change.go", "return p.byNewMember(&m) && !p.makeRoomFirst(&m) })", "return false && p.byNewMember(&m) && !p.makeRoomFirst(&m) })"},
	{"remove before add", "plan/change.go", "return manifests.NeedsNodeEach(p.cluster) &&", "return"},
	{"the successor is the one that goes", "plan/change.go", "case p.surging() && slices.ContainsFunc(list, isJoining):", "case false:"},
	{"two members are interrupted at once", "plan/change.go", "if candidate == nil || !p.othersWell(candidate) {", "if candidate == nil {"},
	{"a member that joins is changed meanwhile", "plan/change.go", "m.InEtcd == nil || !m.HasStarted() || m.Pod == nil ||", "m.InEtcd == nil || m.Pod == nil ||"},
	{"the only voter is interrupted", "plan/change.go", "return !p.votes.AfterInterrupting(m.IsHealthy()).HasQuorum()", "return false"},
	{"drained members are not given back to clients", "plan/change.go", `setLabel(changed, manifests.LabelServing, "true")`, "_ = changed"},
	{"members are not marked as joined", "plan/change.go", "setAnnotation(changed, manifests.AnnotationMemberID, FormatID(m.InEtcd.ID))", "_ = changed"},
	{"volumes are not grown", "plan/change.go", "want.Cmp(have) > 0", "want.Cmp(have) > 5"},
	{"any version change is allowed", "plan/change.go", "return etcdversion.CheckChange(p.oldestVersion(), *p.target())", "return nil"},
	{"a pause is no pause", "plan/plan.go", "case c.Spec.Paused:", "case false:"},
	{"names of others are taken", "plan/services.go", "return service != nil && !snapshot.IsOwned(p.cluster, service)", "return false"},
	{"a crashing member is never given up", "plan/trouble.go", "n >= crashesOfAChange || (n >= crashesUntilReplaced && p.othersRunTheSame(m))", "n < 0"},
	{"a member whose data is gone is waited for", "plan/trouble.go", "case lostData(pod):", "case false:"},
	{"a lost volume is waited for", "plan/trouble.go", "case claim.Status.Phase == corev1.ClaimLost:", "case false:"},
	{"a pod is deleted whoever it is by now", "act/act.go", "return client.Preconditions{UID: &uid}", "return client.GracePeriodSeconds(10)"},
	{"a pod is patched whatever it is by now", "act/act.go", "client.MergeFromWithOptimisticLock{})", ")"},
	{"facts are written onto whatever is there", "act/act.go", "cluster := s.Cluster.DeepCopy()", "cluster := s.Cluster.DeepCopy()\n\tcluster.ResourceVersion = \"\""},
	{"the status is written at every look", "report/report.go", "if old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message {", "if false {"},
	{"the members before are deleted before the restored data is whole", "plan/restore.go", "return before == nil || manifests.Incarnation(pod) == before.UID", "return before == nil && false"},
	{"a restored cluster starts while the one before it still runs", "plan/restore.go", "case len(p.s.Former.Pods) > 0:\n\t\tp.waitForFormer()", "case false:\n\t\tp.waitForFormer()"},
	{"the volumes before go while the restored cluster grows", "plan/restore.go", "len(p.inEtcd()) != p.cluster.Spec.Size || !p.allWell() {", "false {"},
	{"a restore is carried out again and again", "plan/restore.go", "case record != nil && record.LastRequest == string(request.UID):", "case false:"},
	{"a restore that is not wanted any more goes on", "plan/restore.go", "if why == \"\" {", "if why != \"any\" {"},
	{"members of a restored cluster are not told from those before", "manifests/restore.go", "if incarnation := c.Status.Incarnation(); incarnation != \"\" {", "if incarnation := c.Status.Incarnation(); incarnation == \"any\" {"},
	{"members before count as members", "observe/observe.go", "former := owned && manifests.Incarnation(&pod) != incarnation", "former := owned && manifests.Incarnation(&pod) == \"any\" && incarnation != \"\""},
	{"nothing holds the first member of a restored cluster back", "manifests/restore.go", "\"-start-annotation=\"+AnnotationStart)", "\"-start-annotation=\")"},
	{"a survivor's data is taken although the others may come back", "plan/recovery.go", "len(back) > 0 && !p.cluster.Spec.Recovery.AllowDataLoss {", "len(back) > 100 {"},
	{"manual recovery acts", "plan/recovery.go", "if mode == v1beta2.RecoveryManual {\n\t\treturn nil, p.whatCouldBeDone()\n\t}", "if p.cluster.Spec.Recovery == nil {\n\t\treturn p.recoverFromSurvivor()\n\t}"},
}
