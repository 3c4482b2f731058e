// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	etcdfake "github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned/fake"
)

const namespace = "db"

// bench is a plugin in front of an API server that holds some objects.
type bench struct {
	t    *testing.T
	kube *kubefake.Clientset
	etcd *etcdfake.Clientset
	// in is what the user types.
	in string
}

func newBench(t *testing.T, objects ...runtime.Object) *bench {
	t.Helper()
	var kube, etcd []runtime.Object
	for _, o := range objects {
		switch o.(type) {
		case *v1beta2.EtcdCluster, *v1beta2.EtcdBackup, *v1beta2.EtcdRestore:
			etcd = append(etcd, o)
		default:
			kube = append(kube, o)
		}
	}
	return &bench{t: t, kube: kubefake.NewClientset(kube...), etcd: etcdfake.NewSimpleClientset(etcd...)}
}

// run runs a command line, and returns what it printed and its exit code.
func (b *bench) run(args ...string) (out, errOut string, code int) {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	e := &env{in: strings.NewReader(b.in), out: &stdout, err: &stderr, flags: genericclioptions.NewConfigFlags(true)}
	e.connect = func(flags *genericclioptions.ConfigFlags) (*clients, error) {
		c := &clients{kube: b.kube, etcd: b.etcd, namespace: namespace}
		if *flags.Namespace != "" {
			c.namespace = *flags.Namespace
		}
		return c, nil
	}
	code = e.run(b.t.Context(), args)
	return stdout.String(), stderr.String(), code
}

// must runs a command line that has to end with this code, and returns what it printed.
func (b *bench) must(code int, args ...string) string {
	b.t.Helper()
	out, errOut, got := b.run(args...)
	if got != code {
		b.t.Fatalf("%v ended with %d, not %d: %s%s", args, got, code, out, errOut)
	}
	return out + errOut
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// clusterOf is a healthy cluster of three, and its pods.
func clusterOf(name string, changes ...func(*v1beta2.EtcdCluster)) []runtime.Object {
	c := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: "uid-" + "1", Generation: 1},
		Spec:       v1beta2.ClusterSpec{Size: 3, Version: "3.6.16"},
		Status: v1beta2.ClusterStatus{
			Phase: v1beta2.ClusterPhaseRunning, CurrentVersion: "3.6.16", ObservedGeneration: 1, ClusterID: "c1",
			Conditions: []v1beta2.ClusterCondition{
				{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionTrue, Reason: "AsSpecified", Message: "3 members of version 3.6.16 are healthy"},
				{Type: v1beta2.ClusterConditionAvailable, Status: corev1.ConditionTrue},
			},
		},
	}
	objects := []runtime.Object{c}
	for i, member := range []string{name + "-a", name + "-b", name + "-c"} {
		role := v1beta2.MemberRoleVoter
		if i == 0 {
			role = v1beta2.MemberRoleLeader
		}
		c.Status.MemberStatuses = append(c.Status.MemberStatuses, v1beta2.MemberStatus{Name: member, Role: role, Healthy: true, Version: "3.6.16"})
		objects = append(objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: member, Namespace: namespace, Labels: manifests.ClusterLabels(name), OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
			},
			Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: manifests.ContainerEtcd}}},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: manifests.ContainerEtcd}},
			},
		})
	}
	for _, change := range changes {
		change(c)
	}
	return objects
}

// notReady makes a cluster report a reason.
func notReady(reason, message string) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Status.Conditions[0].Status, c.Status.Conditions[0].Reason, c.Status.Conditions[0].Message = corev1.ConditionFalse, reason, message
	}
}

// notServing takes the condition Available away.
func notServing(c *v1beta2.EtcdCluster) { c.Status.Conditions = c.Status.Conditions[:1] }

func backupOf(name, cluster string, changes ...func(*v1beta2.EtcdBackup)) *v1beta2.EtcdBackup {
	b := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1beta2.BackupSpec{
			EtcdEndpoints: []string{"http://" + cluster + "-client:2379"}, StorageType: v1beta2.BackupStorageTypeS3, EncryptionSecret: "keys",
			BackupPolicy: &v1beta2.BackupPolicy{BackupIntervalInSecond: 60},
			BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/" + name, AWSSecret: "aws"}},
		},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}
