// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
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
	mirrored := within(10*time.Minute, otherRepository())
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
		seedScenario("the first member's image comes from another default repository", emptyDir, missEtcd, held, startedWith(mirror)),
		seedScenario("the first member's image comes from another default repository, with a volume", volumes, missEtcd, held, startedWith(mirror)),
		scenario("another default repository restarts nothing, and serves lost pods", volumes, mirrored, lost),
		scenario("another default repository restarts nothing, and serves an upgrade", emptyDir, mirrored, upgrade("3.7.3")),
		scenario("a member whose image is gone gets it from another default repository", volumes,
			Act{Name: "break", Do: missEtcd, Until: after(time.Second)}, until(held, lost), startedWith(mirror)),
	}
}

// mirror is what the flags of an operator say that has a registry of its own.
var mirror = manifests.Defaults{Repository: "mirror/etcd", PullSecrets: []string{"mirror"}}

// startedWith starts the operator again, with other flags.
func startedWith(flags manifests.Defaults) Act {
	return Act{Name: "other flags", Do: func(sim *Simulation) {
		sim.Defaults = flags
		sim.RestartOperator()
	}}
}

// otherRepository starts the operator with other flags, because the usual repository cannot be reached any more, and waits
// until it has looked at all members and left them as they are.
func otherRepository() Act {
	a := startedWith(mirror)
	var before map[types.UID]string
	restart, passed := a.Do, after(time.Minute)
	a.Do = func(sim *Simulation) {
		missEtcd(sim)
		sim.Unpullable[v1beta2.DefaultRepository+":v3.7.3"] = true
		before = imagesOf(sim)
		restart(sim)
	}
	a.Until = func(sim *Simulation) bool { return passed(sim) && maps.Equal(before, imagesOf(sim)) }
	return a
}

// imagesOf are the images of etcd, by the pods' UIDs.
func imagesOf(sim *Simulation) map[types.UID]string {
	images := map[types.UID]string{}
	for _, pod := range sim.Members() {
		images[pod.UID] = manifests.PodImage(pod)
	}
	return images
}

// missEtcd takes the image of the spec's version away from the repository that clusters use by default.
func missEtcd(sim *Simulation) { sim.Unpullable[manifests.Defaults{}.Image(sim.Cluster())] = true }

func misnamedHelper(s *v1beta2.ClusterSpec) { podPolicy(s).BusyboxImage = missingHelper }

// missHelper lets a cluster that has just been created ask for an image that nobody has.
func missHelper(sim *Simulation) {
	sim.Unpullable[missingHelper] = true
	sim.Change(misnamedHelper)
}

func correctHelper() Act {
	return change("correct", func(s *v1beta2.ClusterSpec) { podPolicy(s).BusyboxImage = goodHelper })
}
