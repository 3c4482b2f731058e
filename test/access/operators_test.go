// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/rights"
)

var operators = []string{"etcd-operator", "etcd-backup-operator", "etcd-restore-operator"}

// lists are the rights to list that informers need where the API server cannot stream lists.
var lists = []string{
	"etcd-operator: list etcdclusters.etcd.database.coreos.com",
	"etcd-operator: list poddisruptionbudgets.policy",
	"etcd-operator: list secrets",
	"etcd-operator: list services",
	"etcd-operator:operators: list nodes",
	"etcd-backup-operator: list etcdbackups.etcd.database.coreos.com",
	"etcd-restore-operator: list etcdclusters.etcd.database.coreos.com",
	"etcd-restore-operator: list etcdrestores.etcd.database.coreos.com",
}

// Each operator has the token of its own ServiceAccount and nothing else. There are no nodes here: the lab's
// tests go further.
func TestOperatorsAskForNothingThatTheyMayNotHave(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]struct {
		grant, args []string
		// namespace of the objects that are served, and their annotations.
		namespace, annotations string
		// env is what operators find in their environment.
		env []string
		// used are rights that are used in this mode only.
		used []string
	}{
		"one namespace": {nil, nil, "default", "{}", nil, nil},
		"all namespaces": {
			[]string{"--cluster-wide"}, []string{"-cluster-wide"}, "kube-public", "{etcd.database.coreos.com/scope: clusterwide}", nil, nil,
		},
		"some namespaces": {
			grant: []string{"--watch-namespaces=kube-public,kube-system"}, args: []string{"-watch-namespaces=kube-public,kube-system"},
			namespace: "kube-public", annotations: "{}", used: []string{"etcd-operator-home: get pods", "etcd-restore-operator-home: create secrets"},
		},
		// Before they watch, clients of an API server from before 1.34 list.
		"an older API server": {nil, nil, "default", "{}", []string{"KUBE_FEATURE_WatchListClient=false"}, lists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			grants, err := rights.CreateRole(t.Context(), append(mode.grant, "--namespace="+rights.Home)...)
			if err != nil {
				t.Fatal(err)
			}
			s.createRole(t, mode.grant...)
			since := time.Now()
			for _, operator := range operators {
				harness.StartOperator(t, harness.Operator{
					Name: operator, Kubeconfig: s.kubeconfigOf(t, operator), Namespace: "default", Args: mode.args, Env: mode.env,
				}).AwaitReady(t)
			}
			s.useAll(t, mode.namespace, mode.annotations)

			usage := rights.NewUsage(rights.Installation{Namespace: "default", Grants: grants, Since: since})
			if _, err := rights.ReadLogs(s.AuditDir(), usage.Count); err != nil {
				t.Fatal(err)
			}
			if least := 50; usage.Requests() < least {
				t.Errorf("the audit log has %d requests of operators, want at least %d", usage.Requests(), least)
			}
			for what, lines := range map[string][]string{"forbidden": usage.Forbidden(), "allowed by rights from elsewhere": usage.Foreign()} {
				for _, line := range lines {
					t.Errorf("%s: %s", what, line)
				}
			}
			unused := usage.Unused(nil)
			for _, right := range mode.used {
				if slices.Contains(unused, right) {
					t.Errorf("nobody used %s", right)
				}
			}
		})
	}
}

// useAll gives each operator an object, and waits until it has a status.
func (s *server) useAll(t *testing.T, namespace, annotations string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	text := fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: c, annotations: %[1]s}
spec: {size: 3, version: "3.6.16"}
---
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: b, annotations: %[1]s}
spec: {etcdEndpoints: ["http://127.0.0.1:1"], storageType: S3, s3: {path: bucket/key, awsSecret: aws}, backupPolicy: {backupIntervalInSecond: 3600}}
---
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata: {name: r, annotations: %[1]s}
spec: {etcdCluster: {name: c}, backupStorageType: S3, s3: {path: bucket/key, awsSecret: aws}}
`, annotations)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "--namespace="+namespace, "apply", "-f", file)
	client, err := versioned.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ours := client.EtcdV1beta2()
	core, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		cluster, err := ours.EtcdClusters(namespace).Get(ctx, "c", metav1.GetOptions{})
		if err != nil {
			return err
		}
		backup, err := ours.EtcdBackups(namespace).Get(ctx, "b", metav1.GetOptions{})
		if err != nil {
			return err
		}
		restore, err := ours.EtcdRestores(namespace).Get(ctx, "r", metav1.GetOptions{})
		if err != nil {
			return err
		}
		pods, err := core.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "etcd_cluster=c"})
		if err != nil {
			return err
		}
		if cluster.Status.Phase == "" || len(pods.Items) == 0 || len(backup.Status.Conditions) == 0 || len(restore.Status.Conditions) == 0 || len(backup.Finalizers) == 0 {
			return fmt.Errorf("the cluster has phase %q and %d pods, the backup conditions %v and finalizers %v, the restore conditions %v",
				cluster.Status.Phase, len(pods.Items), backup.Status.Conditions, backup.Finalizers, restore.Status.Conditions)
		}
		return nil
	})
}

// kubeconfigOf is a kubeconfig with a token of a ServiceAccount in namespace default.
func (s *server) kubeconfigOf(t *testing.T, account string) (path string) {
	t.Helper()
	admin := s.RESTConfig()
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthority: admin.CAFile, CertificateAuthorityData: admin.CAData}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
