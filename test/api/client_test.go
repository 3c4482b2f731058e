// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	apply "github.com/etcd-operator/etcd-operator/pkg/generated/applyconfiguration/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned/fake"
	"github.com/etcd-operator/etcd-operator/pkg/generated/informers/externalversions"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

func clientset(t *testing.T) versioned.Interface {
	t.Helper()
	client, err := versioned.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// goCluster, goBackup and goRestore are objects as a Go program makes them.
func goCluster() *v1beta2.EtcdCluster {
	return &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: v1beta2.ClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{}}}
}

func goBackup() *v1beta2.EtcdBackup {
	return &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: v1beta2.BackupSpec{
		EtcdEndpoints: []string{"http://c-client:2379"}, StorageType: v1beta2.BackupStorageTypeS3,
		BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "b/k", AWSSecret: "aws"}},
	}}
}

func goRestore() *v1beta2.EtcdRestore {
	return &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: v1beta2.RestoreSpec{
		BackupStorageType: v1beta2.BackupStorageTypeS3, EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
		RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "b/k", AWSSecret: "aws"}},
	}}
}

func TestTheGoClientGoesThroughTheLifeOfACluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	api := clientset(t).EtcdV1beta2().EtcdClusters(server.NewNamespace(t))

	created, err := api.Create(ctx, goCluster(), strict)
	if err != nil {
		t.Fatal(err)
	}
	events, err := api.Watch(ctx, metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()

	created.Status.Phase = v1beta2.ClusterPhaseRunning
	updated, err := api.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	updated.Spec.Size = 5
	if updated, err = api.Update(ctx, updated, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := api.Get(ctx, "c", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(updated, got); diff != "" {
		t.Errorf("read after write (-written +read):\n%s", diff)
	}
	if got.Spec.Size != 5 || got.Status.Phase != v1beta2.ClusterPhaseRunning {
		t.Errorf("size %d, phase %q", got.Spec.Size, got.Status.Phase)
	}
	if err := api.Delete(ctx, "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Get(ctx, "c", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: error %v", err)
	}

	seen := make([]watch.EventType, 0, 3)
	for range cap(seen) {
		seen = append(seen, (<-events.ResultChan()).Type)
	}
	if diff := cmp.Diff([]watch.EventType{watch.Modified, watch.Modified, watch.Deleted}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTheGoClientWritesBackupsAndRestores(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}

	backup, err := clientset(t).EtcdV1beta2().EtcdBackups(namespace).Create(t.Context(), goBackup(), strict)
	if err != nil {
		t.Fatal(err)
	}
	backup.Status.Reason = "no answer" // and no date of a success, which Go writes as null
	backup, err = clientset(t).EtcdV1beta2().EtcdBackups(namespace).UpdateStatus(t.Context(), backup, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if backup.Status.Reason != "no answer" || !backup.Status.LastSuccessDate.IsZero() {
		t.Errorf("status %+v", backup.Status)
	}
	if _, err := clientset(t).EtcdV1beta2().EtcdRestores(namespace).Create(t.Context(), goRestore(), strict); err != nil {
		t.Fatal(err)
	}
}

func TestApplyConfigurationsOwnWhatTheyName(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	namespace := server.NewNamespace(t)
	api := clientset(t).EtcdV1beta2().EtcdClusters(namespace)
	human := metav1.ApplyOptions{FieldManager: "human"}

	if _, err := api.Apply(ctx, apply.EtcdCluster("c", namespace).WithSpec(apply.ClusterSpec().WithSize(3).WithVersion("3.6.16")), human); err != nil {
		t.Fatal(err)
	}
	// Another manager may add what nobody owns, and may not take what somebody does.
	robot := metav1.ApplyOptions{FieldManager: "robot"}
	if _, err := api.Apply(ctx, apply.EtcdCluster("c", namespace).WithSpec(apply.ClusterSpec().WithPaused(true)), robot); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Apply(ctx, apply.EtcdCluster("c", namespace).WithSpec(apply.ClusterSpec().WithSize(5)), robot); !apierrors.IsConflict(err) {
		t.Errorf("the size of another manager was taken: %v", err)
	}
	_, err := api.ApplyStatus(ctx, apply.EtcdCluster("c", namespace).WithStatus(apply.ClusterStatus().
		WithPhase(v1beta2.ClusterPhaseRunning).
		WithConditions(apply.ClusterCondition().WithType(v1beta2.ClusterConditionReady).WithStatus("True"))), robot)
	if err != nil {
		t.Fatal(err)
	}
	// Conditions are merged by their type.
	got, err := api.ApplyStatus(ctx, apply.EtcdCluster("c", namespace).WithStatus(apply.ClusterStatus().
		WithConditions(apply.ClusterCondition().WithType(v1beta2.ClusterConditionAvailable).WithStatus("True"))), human)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Status.Conditions) != 2 || got.Status.Phase != v1beta2.ClusterPhaseRunning || got.Spec.Version != "3.6.16" || !got.Spec.Paused {
		t.Errorf("after two managers: %+v %+v", got.Spec, got.Status)
	}

	for manager, want := range map[string]*apply.EtcdClusterApplyConfiguration{
		"human": apply.EtcdCluster("c", namespace).WithSpec(apply.ClusterSpec().WithSize(3).WithVersion("3.6.16")),
		"robot": apply.EtcdCluster("c", namespace).WithSpec(apply.ClusterSpec().WithPaused(true)),
	} {
		owned, err := apply.ExtractEtcdCluster(got, manager)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, owned); diff != "" {
			t.Errorf("what %s owns (-want +got):\n%s", manager, diff)
		}
	}
}

func TestListersSeeWhatInformersWatch(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	client := clientset(t)
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 10*time.Minute, externalversions.WithNamespace(namespace))
	informers := factory.Etcd().V1beta2()
	clusterLister := informers.EtcdClusters().Lister().EtcdClusters(namespace)
	backupLister := informers.EtcdBackups().Lister().EtcdBackups(namespace)
	restoreLister := informers.EtcdRestores().Lister().EtcdRestores(namespace)
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("the informer of %v is not filled", kind)
		}
	}

	api := client.EtcdV1beta2()
	if _, err := api.EtcdClusters(namespace).Create(t.Context(), goCluster(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.EtcdBackups(namespace).Create(t.Context(), goBackup(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.EtcdRestores(namespace).Create(t.Context(), goRestore(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.Patience, func(context.Context) error {
		cluster, err1 := clusterLister.Get("c")
		_, err2 := backupLister.Get("b")
		_, err3 := restoreLister.Get("r")
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if all, err := clusterLister.List(labels.Everything()); err != nil || len(all) != 1 || cluster.Spec.Size != 3 {
			return fmt.Errorf("%d clusters, size %d, error %w", len(all), cluster.Spec.Size, err)
		}
		return nil
	})
}

// The fake client is what programs that use ours test themselves with.
func TestTheFakeClientKeepsObjects(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}})
	api := client.EtcdV1beta2().EtcdClusters("ns")
	cluster, err := api.Get(t.Context(), "c", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Size = 3
	if _, err := api.Update(t.Context(), cluster, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	applied := apply.EtcdCluster("c", "ns").WithFinalizers("example.com/hold").WithSpec(apply.ClusterSpec().
		WithVersion("3.6.16").WithPod(apply.PodPolicy().WithLabels(map[string]string{"a": "b"})))
	if _, err := api.Apply(t.Context(), applied, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	all, err := api.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) != 1 || all.Items[0].Spec.Size != 3 || all.Items[0].Spec.Version != "3.6.16" {
		t.Errorf("clusters %+v", all.Items)
	}
}

func TestScaleReadsAndWritesTheSize(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	api := clientset(t).EtcdV1beta2().EtcdClusters(server.NewNamespace(t))
	cluster, err := api.Create(ctx, goCluster(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Status.Replicas = 2
	cluster.Status.Selector = "app=etcd,etcd_cluster=c"
	if _, err := api.UpdateStatus(ctx, cluster, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	scale, err := api.GetScale(ctx, "c", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 3 || scale.Status.Replicas != 2 || scale.Status.Selector != "app=etcd,etcd_cluster=c" {
		t.Errorf("scale %+v %+v, want 3 desired, 2 actual", scale.Spec, scale.Status)
	}
	scale.Spec.Replicas = 5
	if scale, err = api.UpdateScale(ctx, "c", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if cluster, err = api.Get(ctx, "c", metav1.GetOptions{}); err != nil || cluster.Spec.Size != 5 {
		t.Errorf("size %d, error %v", cluster.Spec.Size, err)
	}
	scale.Spec.Replicas = 9
	_, err = api.UpdateScale(ctx, "c", scale, metav1.UpdateOptions{})
	want := "spec.size: Invalid value: 9: must be from 1 to 7; 3 and 5 are the usual sizes"
	if got := refusal(t, err, "EtcdCluster", "c"); got != want {
		t.Errorf("the user sees\n  %s\nwant\n  %s", got, want)
	}
}
