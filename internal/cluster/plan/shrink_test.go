// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

func drained(s *scene, name string, ago time.Duration) {
	pod := s.pod(name)
	delete(pod.Labels, manifests.LabelServing)
	pod.Annotations[manifests.AnnotationDrained] = noon.Add(-ago).Format(time.RFC3339Nano)
}

func TestShrinking(t *testing.T) {
	smaller := func(s *scene) { s.Cluster.Spec.Size = 2; s.Budget = manifests.Budget(s.Cluster, 2) }
	check(t, map[string]planCase{
		"clients are sent away first":      {change: smaller, want: "shrink: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"they get a moment":                {change: func(s *scene) { smaller(s); drained(s, "c-c", 100*time.Millisecond) }, want: "wait: MovingClients"},
		"then the member leaves":           {change: func(s *scene) { smaller(s); drained(s, "c-c", 2*time.Second) }, want: "shrink: remove member c-c"},
		"an unhealthy one goes first":      {change: func(s *scene) { smaller(s); s.silence("c-b") }, want: "shrink: remove member c-b"},
		"even a leader hands over at last": {scene: newScene("c-a"), change: func(s *scene) { s.Cluster.Spec.Size = 1; s.addMember("c-b"); s.Budget = manifests.Budget(s.Cluster, 2) }, want: "shrink: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"the crowded zone loses one":       {change: func(s *scene) { smaller(s); zones(s, "x", "y", "y") }, want: "shrink: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"a zone of its own stays":          {change: func(s *scene) { smaller(s); zones(s, "x", "x", "y") }, want: "shrink: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"not while another is joining": {change: func(s *scene) {
			s.Cluster.Spec.Size = 1
			s.learner("c-c", 100)
			s.Budget = manifests.Budget(s.Cluster, 2)
		}, want: "shrink: remove member c-c"},
		"a reverted size lets it stay":      {change: func(s *scene) { drained(s, "c-c", time.Second) }, want: "sync-metadata: patch Pod c-c (+label etcd_serving=true -annotation drained-since)"},
		"a member with a volume goes alike": {scene: three().withVolumes(), change: func(s *scene) { smaller(s); drained(s, "c-c", 2*time.Second) }, want: "shrink: remove member c-c"},
	})
}

func zones(s *scene, names ...string) {
	for i, zone := range names {
		node := s.Nodes["node-"+s.Pods[i].Name]
		node.Zone = zone
		s.Nodes["node-"+s.Pods[i].Name] = node
	}
}
