// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// midway: the object is deleted or paused in the middle of something, certificates become unusable, and learners take long.
func midway() []Scenario {
	rolling := until(oneRuns("3.7.3"), upgrade("3.7.3"))
	joining := until(hasLearner, scale(5))
	paused := until(after(time.Minute), change("pause", func(s *v1beta2.ClusterSpec) { s.Paused = true }))
	resumed := change("resume", func(s *v1beta2.ClusterSpec) { s.Paused = false })
	expired := until(after(time.Minute), Act{Name: "expire", Do: func(sim *Simulation) { sim.Kube.ExpirePeerCertificates(true) }})
	renewed := Act{Name: "renew", Do: func(sim *Simulation) { sim.Kube.ExpirePeerCertificates(false) }}
	return []Scenario{
		scenario("delete in the middle of a rollout", volumes, rolling, deleteUntilLeft(1)),
		scenario("delete while members join", emptyDir, joining, deleteUntilLeft(1)),
		scenario("delete in the middle of a restore", volumes, failingRestore(), deleteUntilLeft(1)),
		scenario("pause in the middle of a rollout", volumes, rolling, paused, resumed),
		scenario("a learner takes minutes to be sent the data", emptyDir,
			until(both(after(10*time.Minute), hasLearner), Act{Name: "slow transfer, and scale", Do: func(sim *Simulation) {
				sim.Universe.History, sim.Universe.Transfer = 1<<30, 1<<20
				sim.Change(func(s *v1beta2.ClusterSpec) { s.Size = 4 })
			}}),
			Act{Name: "the transfer ends", Do: func(sim *Simulation) { sim.Universe.EndTransfers() }}),
		scenario("pause while members join", emptyDir, joining, paused, resumed),
		scenario("the operator's certificate is unusable, and is renewed", world.Options{TLS: true, Volumes: true},
			recoveryAtAnyPrice(), Act{Name: "backup", Do: createBackup, Until: after(5 * time.Second)},
			until(both(after(20*time.Minute), reports(plan.OperatorBlind)), withCertificate("break", []byte("none"))),
			until(isIncarnation(""), withCertificate("renew", nil))),
		scenario("the certificates between members expire, one restarts, and they are renewed", volumes, expired,
			until(both(after(20*time.Minute), reports(plan.MemberUnhealthy)), onMember("restart", false, crash)), renewed),
		scenario("the certificates between members expire, all restart, and they are renewed", volumes, expired,
			onAll("restart", both(after(20*time.Minute), reports(plan.QuorumLost)), crash), renewed),
		scenario("the certificates between members expire while one joins", emptyDir, expired, until(after(20*time.Minute), scale(4)), renewed),
		scenario("the certificates between members expire during a rollout", volumes, expired, until(after(20*time.Minute), upgrade("3.7.3")), renewed),
	}
}

// withCertificate replaces the operator's certificate; nil brings back the one that it had.
func withCertificate(name string, cert []byte) Act {
	return Act{Name: name, Do: func(sim *Simulation) {
		sim.Kube.Edit(kubemodel.Secrets, "operator", func(o client.Object) {
			data := o.(*corev1.Secret).Data
			if cert == nil {
				cert = data[manifests.OperatorFiles.CA]
			}
			data[manifests.OperatorFiles.Cert] = cert
		})
	}}
}
