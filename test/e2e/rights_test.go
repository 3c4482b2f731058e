// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// What only some objects ask for takes rights as well.
func TestRightsThatFewObjectsNeed(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	s3 := n.StartS3()
	c := create(n, "c", `{size: 1, version: "3.6.16"}`)
	c.awaitReady()
	n.AwaitDeployment("etcd-backup-operator")

	t.Run("a budget that nobody wants any more is deleted", func(*testing.T) {
		c.patch(`{"podDisruptionBudget":true}`)
		budgets := n.Kube.PolicyV1().PodDisruptionBudgets(n.Namespace)
		n.Eventually(patience, func(ctx context.Context) error {
			_, err := budgets.Get(ctx, c.name, metav1.GetOptions{})
			return err
		})
		c.patch(`{"podDisruptionBudget":false}`)
		awaitGone(n, func(ctx context.Context) error {
			_, err := budgets.Get(ctx, c.name, metav1.GetOptions{})
			return err
		})
	})

	t.Run("a network policy is created, corrected and deleted", func(*testing.T) {
		policies := n.Kube.NetworkingV1().NetworkPolicies(n.Namespace)
		stands := func(ctx context.Context) error {
			policy, err := policies.Get(ctx, c.name, metav1.GetOptions{})
			if err == nil && len(policy.Spec.Ingress) != 3 {
				err = fmt.Errorf("the policy has %d rules, want those of members, clients and operators", len(policy.Spec.Ingress))
			}
			return err
		}
		c.patch(`{"networkPolicy":{}}`)
		n.Eventually(patience, stands)
		n.Kubectl("patch", "networkpolicy", c.name, "--type=merge", "-p", `{"spec":{"ingress":[{}]}}`)
		n.Eventually(patience, stands)
		c.patch(`{"networkPolicy":null}`)
		awaitGone(n, func(ctx context.Context) error {
			_, err := policies.Get(ctx, c.name, metav1.GetOptions{})
			return err
		})
	})

	t.Run("a backup goes with its object, or the object goes by itself", func(t *testing.T) {
		backup := func(name, more string) {
			n.Apply(fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: %s}
spec: {etcdEndpoints: ["http://c-client:2379"], storageType: S3, s3: {path: %s, awsSecret: %s}, %s}
`, name, s3.Path(name), tenant.AWSSecret, more))
		}
		backup("held", "deletionPolicy: Delete")
		awaitBackup(n, "held", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
		n.Kubectl("delete", "etcdbackup", "held", "--timeout=60s")
		backup("brief", "ttlSecondsAfterFinished: 0")
		awaitGone(n, func(ctx context.Context) error {
			_, err := n.Etcd.EtcdV1beta2().EtcdBackups(n.Namespace).Get(ctx, "brief", metav1.GetOptions{})
			return err
		})
		if _, err := s3.Open().Stat(t.Context(), "brief"); err != nil {
			t.Errorf("the backup went with its object: %v", err)
		}
	})

	t.Run("the restore operator repairs its Secret and its Service", func(*testing.T) {
		const secret, service = "etcd-restore-operator-identity", "etcd-restore-operator"
		n.Kubectl("patch", "secret", secret, "--type=merge", "-p", `{"data":{"token.key":null}}`)
		n.Kubectl("patch", "service", service, "--type=merge", "-p", `{"spec":{"selector":{"name":"nobody"}}}`)
		n.Kubectl("rollout", "restart", "deployment/etcd-restore-operator")
		n.AwaitDeployment("etcd-restore-operator")
		n.Eventually(patience, func(ctx context.Context) error {
			have, err := n.Kube.CoreV1().Secrets(n.Namespace).Get(ctx, secret, metav1.GetOptions{})
			if err != nil {
				return err
			}
			front, err := n.Kube.CoreV1().Services(n.Namespace).Get(ctx, service, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(have.Data["token.key"]) == 0 || front.Spec.Selector["name"] != service {
				return fmt.Errorf("the Secret has a key of %d bytes, and the Service selects %v", len(have.Data["token.key"]), front.Spec.Selector)
			}
			return nil
		})
	})
}

func awaitGone(n *tenant.Tenant, get func(context.Context) error) {
	n.Helper()
	n.Eventually(patience, func(ctx context.Context) error {
		if err := get(ctx); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there (%w)", err)
		}
		return nil
	})
}

// Who may view or edit a namespace may do that with its etcd clusters, and with those of no other.
func TestUserRolesJoinViewAndEdit(t *testing.T) {
	t.Parallel()
	n, other := tenant.New(t), tenant.New(t)
	n.Kubectl("apply", "-f", "example/rbac/user-roles.yaml")
	for _, role := range []string{"view", "edit"} {
		n.Kubectl("create", "rolebinding", role, "--clusterrole="+role, "--user="+role+"-"+n.Namespace)
	}
	for _, kind := range []string{"etcdclusters", "etcdbackups", "etcdrestores"} {
		for _, q := range []struct {
			role, verb, subresource string
			in                      *tenant.Tenant
			want                    bool
		}{
			{"view", "list", "", n, true},
			{"view", "create", "", n, false},
			{"view", "list", "", other, false},
			{"edit", "get", "", n, true},
			{"edit", "create", "", n, true},
			{"edit", "delete", "", n, true},
			{"edit", "update", "status", n, false},
			{"edit", "create", "", other, false},
		} {
			// Kubernetes joins the roles a moment after they are made.
			n.Eventually(patience, func(ctx context.Context) error {
				review, err := n.Kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
					Spec: authorizationv1.SubjectAccessReviewSpec{
						User: q.role + "-" + n.Namespace, Groups: []string{"system:authenticated"},
						ResourceAttributes: &authorizationv1.ResourceAttributes{
							Namespace: q.in.Namespace, Verb: q.verb, Group: v1beta2.GroupName, Resource: kind, Subresource: q.subresource,
						},
					},
				}, metav1.CreateOptions{})
				if err == nil && review.Status.Allowed != q.want {
					err = fmt.Errorf("%s may %s %s %s: %t", q.role, q.verb, kind, q.subresource, review.Status.Allowed)
				}
				return err
			})
		}
	}
}
