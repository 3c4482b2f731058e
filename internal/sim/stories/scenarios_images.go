// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

const (
	missingHelper = "busybox:none"
	goodHelper    = "busybox:1"
)

// images: the image of the check before etcd cannot be had, and is corrected, or comes back by itself.
func images() []Scenario {
	broken := Act{Name: "break", Do: func(sim *Simulation) { sim.Unpullable[missingHelper] = true }, Until: after(time.Second)}
	misnamed := change("misname", misnamedHelper)
	corrected := within(time.Minute, correctHelper())
	lost := onMember("delete pod", true, deletePod)
	held := reports(plan.ImageNotAvailable)
	first := func(name string, o world.Options) Scenario {
		return seedScenario(name, o, missHelper, held, corrected)
	}
	return []Scenario{
		first("the helper image of the first member is corrected", emptyDir),
		first("the helper image of the first member is corrected, from a mirror", world.Options{Volumes: true, Mirror: "mirror/"}),
		scenario("the helper image of a joining member is corrected", emptyDir, broken, misnamed, until(held, scale(4)), corrected),
		scenario("the helper image of a returning member is corrected", volumes, broken, misnamed, until(held, lost), corrected),
		scenario("the helper image comes back by itself", volumes, broken, misnamed, until(held, lost),
			Act{Name: "come back", Do: func(sim *Simulation) { delete(sim.Unpullable, missingHelper) }}),
		scenario("somebody changes the image of a pod", volumes,
			Act{Name: "break", Do: func(sim *Simulation) { sim.Unpullable[missingImage] = true }, Until: after(time.Second)},
			onMember("edit", false, withImage(missingImage))),
		scenario("somebody changes the images of all pods", emptyDir, onAll("edit", nil, withImage(v1beta2.DefaultRepository+":v3.6.10"))),
		scenario("somebody upgrades all pods, and then the spec", volumes,
			onAll("edit", after(time.Second), withImage(v1beta2.DefaultRepository+":v3.7.3")), upgrade("3.7.3")),
	}
}

func misnamedHelper(s *v1beta2.ClusterSpec) { podPolicy(s).BusyboxImage = missingHelper }

// missHelper lets a cluster that has just been created ask for an image that nobody has.
func missHelper(sim *Simulation) {
	sim.Unpullable[missingHelper] = true
	sim.Change(misnamedHelper)
}

func correctHelper() Act {
	return change("correct", func(s *v1beta2.ClusterSpec) { podPolicy(s).BusyboxImage = goodHelper })
}
