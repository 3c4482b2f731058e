// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// TLSProgress is how far the TLS that the spec asks for has come; nil where it asks for none. The API server lets users take it back
// as long as it is pending: who asked for it with a Secret that does not exist is not trapped.
func TLSProgress(v *view.View) *v1beta2.TLSStatus {
	var recorded v1beta2.TLSStatus
	if v.Cluster.Status.TLS != nil {
		recorded = *v.Cluster.Status.TLS
	}
	isThere, serves := len(v.Claims) > 0 || len(v.Previous.Claims) > 0, false
	for pod := range v.EveryPod() {
		isThere, serves = true, serves || manifests.ServesTLS(v.Cluster, pod)
	}
	for i := range v.Unclaimed {
		isThere, serves = true, serves || manifests.ServesTLS(v.Cluster, &v.Unclaimed[i])
	}
	bootstrap := v.Cluster.Status.Bootstrap
	mayExist := isThere || v.Cluster.Status.ClusterID != "" || (bootstrap != nil && bootstrap.PodUID != "")
	tls := v1beta2.TLSStatus{
		Clients: progress(v.Cluster.Spec.TLS.IsSecureClient(), recorded.Clients, serves),
		Peers:   progress(v.Cluster.Spec.TLS.IsSecurePeer(), recorded.Peers, mayExist),
	}
	if tls == (v1beta2.TLSStatus{}) {
		return nil
	}
	return &tls
}

func progress(isAskedFor bool, recorded v1beta2.TLSProgress, isThere bool) v1beta2.TLSProgress {
	switch {
	case !isAskedFor:
		return ""
	case recorded == v1beta2.TLSInUse || isThere:
		return v1beta2.TLSInUse
	}
	return v1beta2.TLSPending
}

// recordTLS records that members get TLS before the first of them does: from then on it cannot be taken back, because the
// operator would not hear who has it already.
func recordTLS(p *planning) verdict {
	next := TLSProgress(p.View)
	if next == nil || (next.Clients != v1beta2.TLSPending && next.Peers != v1beta2.TLSPending) || p.secretForNewPods() != nil {
		return verdict{}
	}
	for _, of := range []*v1beta2.TLSProgress{&next.Clients, &next.Peers} {
		if *of == v1beta2.TLSPending {
			*of = v1beta2.TLSInUse
		}
	}
	status := *p.Cluster.Status.DeepCopy()
	status.TLS = next
	return do(RecordStatus{About: About{Why: "record that members get TLS"}, Status: status})
}
