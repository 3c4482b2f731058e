// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// Which operator serves which object. The two are looked at one after the other: a
// cluster-wide operator serves the other's namespace as well.
func TestScope(t *testing.T) {
	t.Parallel()
	t.Run("a namespaced operator leaves objects of the cluster-wide one alone", namespacedScope)
	t.Run("a cluster-wide operator serves annotated objects of all namespaces", clusterWideScope)
}

func namespacedScope(t *testing.T) {
	n := tenant.New(t)
	n.InstallOperator()
	n.Apply("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: wide, annotations: {etcd.database.coreos.com/scope: clusterwide}}\nspec: {size: 1}\n")
	c := create(n, "mine", `{size: 1, version: "3.6.16"}`)
	c.awaitReady()
	wide := &etcdCluster{Tenant: n, name: "wide"}
	if cluster := wide.get(); cluster.Status.Phase != "" || len(wide.pods()) != 0 {
		t.Errorf("the object of the cluster-wide operator has phase %s and pods %v", cluster.Status.Phase, names(wide.pods()))
	}
}

// Pods, services and owner references as the original made them are taken over as they
// run: no restart, no new bootstrap; and from then on they heal and grow.
func TestARunningClusterOfTheOriginalIsAdopted(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	n.Apply("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: old}\nspec: {size: 1, version: \"3.5.21\", paused: true}\n")
	c := &etcdCluster{Tenant: n, name: "old"}
	cluster := c.get()
	for _, service := range originalServices(cluster) {
		if _, err := n.Kube.CoreV1().Services(n.Namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pod, err := n.Kube.CoreV1().Pods(n.Namespace).Create(t.Context(), originalPod(cluster, "old-aaaaaaaaaa"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.Kubectl("wait", "--for=condition=Ready", "pod/old-aaaaaaaaaa", "--timeout=120s")
	c.fill(20)
	c.patch(`{"paused":false}`)
	c.awaitReady()
	c.mustHave(20)
	if after, ok := c.pods()["old-aaaaaaaaaa"]; !ok || after.UID != pod.UID || after.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the pod was replaced or restarted: %+v", after.Status)
	}
	c.patch(`{"size":3}`)
	c.awaitReady()
	if members := c.etcdMembers(); len(members) != 3 || c.pods()["old-aaaaaaaaaa"].UID != pod.UID {
		t.Errorf("members %v", names(members))
	}
	c.mustHave(20)
	for name, made := range c.pods() {
		if name != "old-aaaaaaaaaa" && strings.Contains(fmt.Sprint(made.Spec.Containers[0].Command), "state=new") {
			t.Errorf("pod %s starts a second cluster", name)
		}
	}
}

func originalServices(c *v1beta2.EtcdCluster) []*corev1.Service {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"app": "etcd", "etcd_cluster": c.Name}, OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
			Annotations: map[string]string{"service.alpha.kubernetes.io/tolerate-unready-endpoints": "true"},
		}
	}
	selector := map[string]string{"app": "etcd", "etcd_cluster": c.Name}
	client, peer := corev1.ServicePort{Name: "client", Port: 2379}, corev1.ServicePort{Name: "peer", Port: 2380}
	return []*corev1.Service{
		{ObjectMeta: meta(c.Name), Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: selector, Ports: []corev1.ServicePort{client, peer}}},
		{ObjectMeta: meta(c.Name + "-client"), Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{client}}},
	}
}

// originalPod is a seed as the original makes it, less its probes, which need a shell.
func originalPod(c *v1beta2.EtcdCluster, name string) *corev1.Pod {
	host := fmt.Sprintf("%s.%s.%s.svc", name, c.Name, c.Namespace)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"app": "etcd", "etcd_cluster": c.Name, "etcd_node": name},
			Annotations: map[string]string{"etcd.version": "3.5.21"}, OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Hostname: name, Subdomain: c.Name, AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](9000), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{
				Name: "etcd", Image: "quay.io/coreos/etcd:v3.5.21",
				Command: []string{
					"/usr/local/bin/etcd", "--data-dir=/var/etcd/data", "--name=" + name, "--initial-advertise-peer-urls=http://" + host + ":2380",
					"--listen-peer-urls=http://0.0.0.0:2380", "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://" + host + ":2379",
					"--initial-cluster=" + name + "=http://" + host + ":2380", "--initial-cluster-state=new", "--initial-cluster-token=5b9ecd1d-c0ee-4e19-a0b8-a1b6c8a1b4f0",
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "etcd-data", MountPath: "/var/etcd"}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
			Volumes: []corev1.Volume{{Name: "etcd-data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
}

func clusterWideScope(t *testing.T) {
	home, away := tenant.New(t), tenant.New(t)
	home.CreateRole("--cluster-wide")
	home.Kubectl("create", "-f", "example/deployment.yaml")
	home.Kubectl("patch", "deployment", "etcd-operator", "--type=json", "-p", `[{"op":"add","path":"/spec/template/spec/containers/0/args","value":["-cluster-wide"]}]`)
	home.AwaitDeployment("etcd-operator")
	away.Apply("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: wide, annotations: {etcd.database.coreos.com/scope: clusterwide}}\nspec: {size: 1, version: \"3.6.16\"}\n")
	c := &etcdCluster{Tenant: away, name: "wide"}
	c.awaitReady()
	plain := create(away, "plain", `{size: 1, version: "3.6.16"}`)
	c.kill(names(c.pods())...)
	c.Eventually(patience, func(context.Context) error {
		if cluster := c.get(); cluster.Status.Phase != v1beta2.ClusterPhaseFailed {
			return fmt.Errorf("phase %s", cluster.Status.Phase)
		}
		return nil
	})
	if phase := plain.get().Status.Phase; phase != "" {
		t.Errorf("the object without the annotation has phase %s", phase)
	}
}
