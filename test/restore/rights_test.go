// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// What prevents the request of a restore is reported on the object, and retried after a pause.
func TestAMissingRightIsReportedAndTheRestoreContinuesOnceItIsGranted(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	s.put("etcd.backup", snap)
	c := s.cluster("c")
	limited, allow := s.userWithoutNewSecrets()
	awaitMissing := func(r *v1beta2.EtcdRestore, what string) {
		s.await(r, "waiting for "+what, func() bool {
			ready := meta.FindStatusCondition(r.Status.Conditions, "Ready")
			return ready != nil && ready.Reason == "RequestFailed" && strings.Contains(ready.Message, what) && strings.Contains(ready.Message, "forbidden") &&
				meta.IsStatusConditionTrue(r.Status.Conditions, "Reconciling")
		})
	}
	// The operator cannot make its certificate.
	p := startOperatorAs(t, limited, s.namespace)
	r := s.restore("r", "etcd.backup")
	awaitMissing(r, "etcd-restore-operator-identity")
	p.Kill()

	// It has one, but cannot make the ticket.
	p = startOperator(t, s.namespace, "-cluster-wide") // it serves nothing here
	identity := &corev1.Secret{ObjectMeta: s.meta("etcd-restore-operator-identity")}
	s.eventually("there is a certificate", func() bool { return !s.gone(identity) })
	p.Kill()
	startOperatorAs(t, limited, s.namespace)
	awaitMissing(r, "creating Secret "+s.namespace+"/"+r.Status.TicketSecret)
	if r.Status.Backup == nil || r.Status.RequestTime != nil {
		t.Errorf("its status is %+v", r.Status)
	}
	// The pauses between the tries grow from two seconds on: it does not go round and round.
	if most := int32(2 + time.Since(r.CreationTimestamp.Time)/(2*time.Second)); r.Status.Failures > most {
		t.Errorf("it was tried %d times, and not at most %d times", r.Status.Failures, most)
	}

	allow()
	s.awaitRequest(c, r)
	s.await(r, "requested", func() bool { return r.Status.RequestTime != nil })
	if r.Status.Reason != "" || r.Status.Failures != 0 {
		t.Errorf("what stood in its way is left in the status %+v", r.Status)
	}
}

// userWithoutNewSecrets is the kubeconfig of an operator that lacks the right to create Secrets, and what
// gives it to it.
func (s *scene) userWithoutNewSecrets() (kubeconfig string, allow func()) {
	s.Helper()
	user := s.namespace + "-operator"
	everything := []string{"*"}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"etcd.database.coreos.com", "apiextensions.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"}, Resources: everything, Verbs: everything},
			{APIGroups: []string{""}, Resources: []string{"pods", "services", "endpoints", "events"}, Verbs: everything},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch", "update", "delete"}},
		},
	}
	if err := kube.Create(s.Context(), role); err != nil {
		s.Fatal(err)
	}
	if err := kube.Create(s.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}); err != nil {
		s.Fatal(err)
	}
	return api.KubeconfigAs(s, user), func() {
		s.Helper()
		last := &role.Rules[len(role.Rules)-1]
		last.Verbs = append(last.Verbs, "create")
		if err := kube.Update(s.Context(), role); err != nil {
			s.Fatal(err)
		}
	}
}
