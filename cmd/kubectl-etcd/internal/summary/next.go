// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// adviser makes the commands for one reason.
type adviser func(a advice) []Command

// advice is what advisers look at, with short forms of what they type.
type advice struct {
	v *view.View
	s *Summary
}

// plugin is a command of this program for the cluster.
func (a advice) plugin(command, rest, why string) Command {
	text := fmt.Sprintf("kubectl etcd %s %s -n %s", command, a.s.Name, a.s.Namespace)
	if rest != "" {
		text += " " + rest
	}
	return Command{Command: text, Why: why}
}

// kubectl is a command of kubectl's own in the cluster's namespace.
func (a advice) kubectl(rest, why string) Command {
	return Command{Command: fmt.Sprintf("kubectl -n %s %s", a.s.Namespace, rest), Why: why}
}

// sick is the first member that is not healthy.
func (a advice) sick() (Member, bool) {
	i := slices.IndexFunc(a.s.Members, func(m Member) bool { return !m.Healthy })
	if i < 0 {
		return Member{}, false
	}
	return a.s.Members[i], true
}

// advisers has a row for every reason of the planner; a test keeps it complete.
var advisers = map[plan.Reason]adviser{
	plan.Deleting:               watch("The object is being deleted."),
	plan.InvalidSpec:            edit("Correct the field that the message names."),
	plan.Paused:                 resume,
	plan.NameTaken:              read("The events name the object that is in the way."),
	plan.WaitingForSecret:       read("The message names the Secret; create or correct it."),
	plan.SeedStarting:           lookAtSick("The first member has not answered yet."),
	plan.SeedLost:               read("The message names what to delete and the annotation to set."),
	plan.Restoring:              watch("Wait for the restore."),
	plan.RestoreFailing:         restoreFailing,
	plan.RestoreRequestInvalid:  edit("Remove the annotation of the restore."),
	plan.RecoveryImpossible:     restoreBackup,
	plan.BootstrapRestoreFailed: bootstrapRestoreFailed,
	plan.AllDataLost:            restoreBackup,
	plan.OriginUnknown:          restoreBackup,
	plan.QuorumLost:             quorumLost,
	plan.NoLeader:               logs("See why the members elect no leader."),
	plan.MembersDisagree:        logs("Find out where the members come from."),
	plan.AccessRefused:          etcdctl("auth status", "Authentication is on, and the operator is no user."),
	plan.OperatorBlind:          logs("See what the members say about the operator's connections."),
	plan.QuorumAtRisk:           lookAtSick("Bring the unhealthy member back."),
	plan.MemberJoining:          watch("Wait for the new member."),
	plan.MemberUnhealthy:        lookAtSick("Find out what is the matter with the member."),
	plan.MemberAlarm:            freeSpace,
	plan.MemberCrashing:         logs("Read why etcd exits."),
	plan.MemberStopping:         watch("The member comes back on its volume."),
	plan.NodeUnreachable:        lookAtNode,
	plan.PodUnschedulable:       lookAtSick("The scheduler says why no node fits."),
	plan.ImageNotAvailable:      edit("Correct version or repository."),
	plan.ContainerNotStarting:   lookAtSick("The kubelet says what it lacks."),
	plan.ResourcesPending:       edit("Ask for less in pod.resources, or make room on the node."),
	plan.MovingClients:          watch("It takes a second."),
	plan.ChangeRefusedByEtcd:    watch("etcd accepts the change when all members have been connected for five seconds."),
	plan.StepFailed:             read("The message says what the API server refused."),
	plan.DowngradeRefused:       edit("Set the version back."),
	plan.MinorVersionSkipped:    edit("Upgrade one minor version at a time."),
	plan.Defragmenting:          watch("It takes about ten seconds for a gigabyte of data."),
	plan.MaintenanceInvalid:     edit("Correct the field of spec.maintenance that the message names."),
	plan.RecoveringSpace:        watch("The operator makes room, step by step; events report each."),
}

// next are the commands to type now.
func next(v *view.View, s *Summary) []Command {
	a := advice{v, s}
	adviser, known := advisers[plan.Reason(s.Operator.Reason)]
	var list []Command
	switch {
	case s.Operator.Reason == notSeen:
		return []Command{a.operatorLogs()}
	case known:
		list = adviser(a)
	case s.Health != Well && s.Operator.Reason == "Working":
		list = []Command{a.plugin("status", "--watch", "Follow what the operator does.")}
	case s.Health != Well:
		list = []Command{a.operatorLogs()}
	}
	if !known && len(s.Alarms) > 0 {
		list = append(freeSpace(a), list...)
	}
	if known {
		list = append(list, Command{Command: "kubectl etcd explain " + s.Operator.Reason, Why: "Read what this reason means."})
	}
	return list
}

func (a advice) operatorLogs() Command {
	return Command{Command: "kubectl get pods -A -l name=etcd-operator", Why: "See whether the operator runs, and for which namespaces."}
}

func watch(why string) adviser {
	return func(a advice) []Command { return []Command{a.plugin("status", "--watch", why)} }
}

func edit(why string) adviser {
	return func(a advice) []Command { return []Command{a.kubectl("edit etcdcluster "+a.s.Name, why)} }
}

func read(why string) adviser {
	return func(a advice) []Command { return []Command{a.kubectl("describe etcdcluster "+a.s.Name, why)} }
}

func logs(why string) adviser {
	return func(a advice) []Command { return []Command{a.plugin("logs", "--since 10m --level warn", why)} }
}

func etcdctl(command, why string) adviser {
	return func(a advice) []Command { return []Command{a.plugin("etcdctl", "-- "+command, why)} }
}

func resume(a advice) []Command {
	return []Command{a.plugin("resume", "", "Let the operator change the cluster again.")}
}

func lookAtSick(why string) adviser {
	return func(a advice) []Command {
		m, ok := a.sick()
		if !ok {
			return watch(why)(a)
		}
		return []Command{a.kubectl("describe pod "+m.Name, why)}
	}
}

func lookAtNode(a advice) []Command {
	if m, ok := a.sick(); ok && m.Node != "" {
		return []Command{{Command: "kubectl describe node " + m.Node, Why: "Bring the node back, or wait until the member is replaced."}}
	}
	return watch("Wait until the member is replaced.")(a)
}

func freeSpace(a advice) []Command {
	if !slices.ContainsFunc(a.s.Alarms, isNoSpace) {
		return etcdctl("alarm list", "See which alarm it is.")(a)
	}
	return []Command{
		a.plugin("top", "", "See what fills the database."),
		a.plugin("defrag", "--compact --disarm", "Drop history, give space back, and let etcd take writes again."),
	}
}

// restoreBackup names the backup to restore, if there is one.
func restoreBackup(a advice) []Command {
	if b := a.s.Backup; b != nil && !b.Time.IsZero() {
		return []Command{a.plugin("restore", "--from "+b.EtcdBackup, "Restore the last good backup.")}
	}
	return []Command{a.kubectl("get etcdbackups", "Look for a backup of the cluster; none is known here.")}
}

func restoreFailing(a advice) []Command {
	list := []Command{}
	if r := a.s.Restore; r != nil {
		list = append(list, a.kubectl("delete etcdrestore "+r.EtcdRestore, "Cancel the restore; the previous incarnation is as it was."))
	}
	return append(list, read("The message has what the failing container printed last.")(a)...)
}

// bootstrapRestoreFailed: the EtcdRestore that was to create the cluster says what is wrong.
func bootstrapRestoreFailed(a advice) []Command {
	return []Command{a.kubectl("describe etcdrestore -l etcd_cluster="+a.s.Name, "It says why the cluster could not be created from its backup.")}
}

// quorumLost: bringing members back is better than losing what was written since the last backup.
func quorumLost(a advice) []Command {
	list := lookAtSick("Bring members back: the cluster then continues by itself.")(a)
	if m, ok := a.sick(); ok && m.Node != "" && m.State != "no pod" {
		list = lookAtNode(a)
		list[0].Why = "Bring the node back: the cluster then continues by itself."
	}
	restore := restoreBackup(a)
	restore[0].Why = "Only if the members are lost for good: " + lower(restore[0].Why)
	return append(list, restore...)
}

func lower(s string) string { return string(s[0]|0x20) + s[1:] }
