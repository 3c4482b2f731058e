// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// releaseDeleted lets Kubernetes remove what belongs to an object that is being deleted, or is gone: in its way are
// the finalizer of a seed pod that was being replaced, and that of an object with volumes.
func releaseDeleted(p *planning) verdict {
	if p.Cluster.DeletionTimestamp == nil && !p.Gone {
		return verdict{}
	}
	var steps []Step
	for _, pods := range [][]corev1.Pod{p.Pods, p.Previous.Pods} {
		for i := range pods {
			if isHeldForReplacement(&pods[i]) {
				steps = append(steps, patchPod(&pods[i], About{Why: "release pod " + pods[i].Name + " of the deleted cluster"}, removeSeedFinalizer))
			}
		}
	}
	v := p.releaseVolumes()
	v.Stop, v.Waits = true, append(v.Waits, Wait{Deleting, "The object is being deleted: Kubernetes removes everything that belongs to it."})
	if v.Step != nil {
		steps = append(steps, v.Step)
	}
	if len(steps) > 0 {
		v.Step, v.Concurrent = steps[0], steps[1:]
	}
	return v
}

// isHeldForReplacement reports whether a pod has our finalizer.
func isHeldForReplacement(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, manifests.FinalizerSeed)
}

func removeSeedFinalizer(pod *corev1.Pod) {
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == manifests.FinalizerSeed })
}

// refuseInvalidSpec finds what the rules of the API server did not catch: objects may be older than these.
func refuseInvalidSpec(p *planning) verdict {
	c := p.Cluster
	unsafe, why := manifests.UnsafeSetting(c)
	switch {
	case c.Spec.Size < 1 || c.Spec.Size > 7:
		return stop(InvalidSpec, "spec.size is %d: set it to a number from 1 to 7", c.Spec.Size)
	case !p.versions.isValid:
		return stop(InvalidSpec, "spec.version %q is not a version of etcd: set it to one such as %s", c.Spec.Version, etcdversion.Default)
	case c.Spec.TLS.IsSecureClient() && (c.Spec.TLS.Static.Member == nil || c.Spec.TLS.Static.Member.ServerSecret == ""):
		return stop(InvalidSpec, "spec.TLS.static.operatorSecret is set: set spec.TLS.static.member.serverSecret too")
	case unsafe != "":
		return stop(InvalidSpec, "spec.pod.etcdEnv contains %s: remove it, because %s", unsafe, why)
	}
	return verdict{}
}

// pause keeps the hands off a cluster; its status stays up to date.
func pause(p *planning) verdict {
	if !p.Cluster.Spec.Paused {
		return verdict{}
	}
	return stop(Paused, "spec.paused is true: nothing is changed, the status is kept up to date%s", p.pendingRestore())
}

// pendingRestore tells of a restore that is requested and cannot begin yet.
func (p *planning) pendingRestore() string {
	request, err := v1beta2.RestoreRequestOf(p.Cluster)
	if err != nil || (p.record != nil && p.record.LastRequest == string(request.UID)) {
		return ""
	}
	return fmt.Sprintf("; the restore requested by EtcdRestore %s waits as well", request.Name)
}

// refuseTakenNames keeps a cluster from coming to be beside objects of others that have its names. One that
// runs is cared for, whatever else is in its way.
func refuseTakenNames(p *planning) verdict {
	isNothingThere := !isStarted(p.record) && len(p.Pods) == 0 && len(p.Claims) == 0
	if len(p.Unclaimed) > 0 && isNothingThere {
		return stop(NameTaken, "%s", p.unclaimedPods())
	}
	if taken := p.Taken(); len(taken) > 0 && isNothingThere {
		return stop(NameTaken, "%s already exists and does not belong to this cluster: rename one of the two", strings.Join(taken, ", "))
	}
	return verdict{}
}
