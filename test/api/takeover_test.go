// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

// The fork's backup operator serves all namespaces without an annotation. Whoever takes its backups over hears of what is
// not continued, and has a flag for it; and its metrics are where the fork had them.
func TestBackupsOfTheForkAreReportedOrServed(t *testing.T) {
	t.Parallel()
	bare := harness.StartServer(t)
	start := func(args ...string) *harness.RunningOperator {
		o := harness.StartOperator(t, harness.Operator{Name: "etcd-backup-operator", Kubeconfig: bare.Kubeconfig(), Namespace: "kube-system", Args: append(args, "-cluster-wide")})
		o.AwaitReady(t)
		return o
	}
	operator := start()
	series := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "series", Finalizers: []string{v1beta2.BackupFinalizer}},
		Spec: v1beta2.BackupSpec{
			EtcdEndpoints: []string{"http://example-etcd-cluster-client:2379"}, StorageType: v1beta2.BackupStorageTypeS3,
			BackupPolicy: &v1beta2.BackupPolicy{BackupIntervalInSecond: 125, MaxBackups: 4},
			BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "mybucket/etcd.backup", AWSSecret: "aws"}},
		},
	}
	if err := bare.Client.Create(t.Context(), series); err != nil {
		t.Fatal(err)
	}
	series.Status.Succeeded, series.Status.LastSuccessDate = true, metav1.Now()
	if err := bare.Client.Status().Update(t.Context(), series); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		var list eventsv1.EventList
		if err := bare.Client.List(ctx, &list, client.InNamespace("default")); err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.Reason == "NotServed" && event.Regarding.Name == series.Name && event.Type == "Warning" && strings.Contains(event.Note, "-serve-unannotated") {
				return nil
			}
		}
		return errors.New("no event reports the series that is not continued")
	})
	checkSecondMetrics(t, operator)
	operator.Stop(t)

	start("-serve-unannotated")
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		var b v1beta2.EtcdBackup
		if err := bare.Client.Get(ctx, client.ObjectKeyFromObject(series), &b); err != nil {
			return err
		}
		if b.Status.ObservedGeneration == 0 {
			return errors.New("the series is not served")
		}
		return nil
	})
}

func checkSecondMetrics(t *testing.T, o *harness.RunningOperator) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.MetricsURL+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(body), "etcd_operator_backups_running") {
		t.Errorf("metrics on the second port: %d, error %v", answer.StatusCode, err)
	}
}
