// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package example checks what must hold between the manifests in this folder. That
// the API server takes them, and that they work, is tested in test/.
package example

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// read decodes a manifest, or the given one of several in a file, and refuses fields that do not exist.
func read[T any](t *testing.T, path string, document ...int) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	documents := bytes.Split(text, []byte("\n---\n"))
	var object T
	if err := yaml.UnmarshalStrict(documents[cmp.Or(append(document, 0)...)], &object); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return object
}

// The names are what scripts written for the original use.
func TestEachOperatorHasADeploymentOfItsNameThatRunsItsProgram(t *testing.T) {
	ports := map[int32]string{}
	for name, path := range map[string]string{
		"etcd-operator":         "deployment.yaml",
		"etcd-backup-operator":  "etcd-backup-operator/deployment.yaml",
		"etcd-restore-operator": "etcd-restore-operator/deployment.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			deployment := read[appsv1.Deployment](t, path)
			container := deployment.Spec.Template.Spec.Containers[0]
			if deployment.Name != name || !slices.Equal(container.Command, []string{name}) {
				t.Errorf("Deployment %s runs %s, want %s twice", deployment.Name, strings.Join(container.Command, " "), name)
			}
			if got := deployment.Spec.Template.Labels["name"]; got != name {
				t.Errorf("label name=%s, want %s", got, name)
			}
			env := map[string]string{}
			for _, e := range container.Env {
				env[e.Name] = e.ValueFrom.FieldRef.FieldPath
			}
			want := map[string]string{"MY_POD_NAMESPACE": "metadata.namespace", "MY_POD_NAME": "metadata.name"}
			if diff := gocmp.Diff(want, env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if got := deployment.Spec.Template.Spec.ServiceAccountName; got != name {
				t.Errorf("it runs as %s, want the ServiceAccount that create_role.sh makes, %s", got, name)
			}
			port := container.Ports[0].ContainerPort
			if other, taken := ports[port]; taken {
				t.Errorf("port %d is that of %s too: they could not share a pod", port, other)
			}
			ports[port] = name
		})
	}
}

// Two replicas differ from one in nothing but what two need.
func TestTheHADeploymentIsTheOtherOneTwice(t *testing.T) {
	one, two := read[appsv1.Deployment](t, "deployment.yaml"), read[appsv1.Deployment](t, "deployment-ha.yaml")
	if *two.Spec.Replicas < 2 || len(two.Spec.Template.Spec.TopologySpreadConstraints) == 0 {
		t.Errorf("%d replicas, spread by %v", *two.Spec.Replicas, two.Spec.Template.Spec.TopologySpreadConstraints)
	}
	for _, constraint := range two.Spec.Template.Spec.TopologySpreadConstraints {
		if diff := gocmp.Diff(two.Spec.Selector, constraint.LabelSelector); diff != "" {
			t.Errorf("pods that are spread (-selector of the Deployment +selector of the constraint):\n%s", diff)
		}
	}
	budget := read[policyv1.PodDisruptionBudget](t, "deployment-ha.yaml", 1)
	if diff := gocmp.Diff(two.Spec.Selector, budget.Spec.Selector); diff != "" {
		t.Errorf("pods of the budget (-selector of the Deployment +selector of the budget):\n%s", diff)
	}
	two.Spec.Replicas, two.Spec.Template.Spec.TopologySpreadConstraints = one.Spec.Replicas, nil
	if diff := gocmp.Diff(one, two); diff != "" {
		t.Errorf("deployment-ha.yaml (-deployment.yaml +deployment-ha.yaml):\n%s", diff)
	}
}

// The CronJob's ServiceAccount may ask for backups and nothing else.
func TestTheCronJobRunsWithTheRightToCreateBackupsOnly(t *testing.T) {
	const path = "etcd-backup-operator/cronjob.yaml"
	account, role, binding := read[corev1.ServiceAccount](t, path), read[rbacv1.Role](t, path, 1), read[rbacv1.RoleBinding](t, path, 2)
	config, job := read[corev1.ConfigMap](t, path, 3), read[batchv1.CronJob](t, path, 4).Spec.JobTemplate.Spec.Template.Spec
	want := []rbacv1.PolicyRule{{APIGroups: []string{"etcd.database.coreos.com"}, Resources: []string{"etcdbackups"}, Verbs: []string{"create"}}}
	if diff := gocmp.Diff(want, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if binding.RoleRef.Name != role.Name || binding.Subjects[0].Name != account.Name || job.ServiceAccountName != account.Name {
		t.Errorf("the binding of %v to %s %s does not lead from the role to %s", binding.Subjects, binding.RoleRef.Kind, binding.RoleRef.Name, job.ServiceAccountName)
	}
	file := config.Data["backup.yaml"]
	if !strings.Contains(file, "kind: EtcdBackup") || job.Volumes[0].ConfigMap.Name != config.Name || !slices.Contains(job.Containers[0].Command, "--filename=/backup/backup.yaml") {
		t.Errorf("the job runs %v on %s", job.Containers[0].Command, file)
	}
}

// The Service selects the pods of the example's cluster.
func TestTheNodePortServiceIsForTheExampleCluster(t *testing.T) {
	service := read[corev1.Service](t, "example-etcd-cluster-nodeport-service.json")
	cluster := read[v1beta2.EtcdCluster](t, "example-etcd-cluster.yaml")
	want := map[string]string{"app": "etcd", "etcd_cluster": cluster.Name}
	if diff := gocmp.Diff(want, service.Spec.Selector); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	if service.Spec.Type != corev1.ServiceTypeNodePort || service.Spec.Ports[0].Port != 2379 {
		t.Errorf("it is %+v", service.Spec)
	}
}
