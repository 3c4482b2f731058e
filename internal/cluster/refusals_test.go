// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// A step that takes effect, and is needed again each time, is tried less and less often; one that is needed now and then is not.
func TestAStepThatIsUndoneHasABackoff(t *testing.T) {
	for name, tc := range map[string]struct {
		every time.Duration
		// most is how many times it may be tried within an hour.
		least, most int
	}{
		"undone at once":                 {every: 10 * time.Millisecond, least: 100, most: 150},
		"needed again after two minutes": {every: 2 * time.Minute, least: 30, most: 30},
	} {
		var r refusals
		of := types.NamespacedName{Namespace: "ns", Name: "c"}
		step := plan.DeleteObject{About: plan.About{Why: "delete what comes back"}}
		v := &view.View{Cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", Generation: 1}}}
		begin := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
		tried := 0
		for v.Now = begin; v.Now.Before(begin.Add(time.Hour)); v.Now = v.Now.Add(tc.every) {
			if v.Refused, _ = r.current(v, of); len(v.Refused) == 0 {
				tried++
				r.settle(v, of, step)
			}
		}
		if tried < tc.least || tried > tc.most {
			t.Errorf("%s: tried %d times within an hour, want %d to %d", name, tried, tc.least, tc.most)
		}
	}
}
