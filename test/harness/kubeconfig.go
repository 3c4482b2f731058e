// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigAs returns the kubeconfig of a user who has only their own rights.
func (s *Server) KubeconfigAs(tb testing.TB, user string, groups ...string) string {
	tb.Helper()
	config, err := clientcmd.LoadFromFile(s.Kubeconfig())
	if err != nil {
		tb.Fatal(err)
	}
	for _, as := range config.AuthInfos {
		as.Impersonate, as.ImpersonateGroups = user, groups
	}
	return writeKubeconfig(tb, config)
}

// KubeconfigOfServiceAccount returns the kubeconfig of a service account.
func (s *Server) KubeconfigOfServiceAccount(tb testing.TB, namespace, name string) string {
	tb.Helper()
	return s.KubeconfigAs(tb, fmt.Sprintf("system:serviceaccount:%s:%s", namespace, name),
		"system:serviceaccounts", "system:serviceaccounts:"+namespace, "system:authenticated")
}

// KubeconfigFor returns a kubeconfig without credentials for an API server, or a proxy in front of one.
func KubeconfigFor(tb testing.TB, url string) string {
	tb.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	config.CurrentContext = "test"
	return writeKubeconfig(tb, config)
}

func writeKubeconfig(tb testing.TB, config *clientcmdapi.Config) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		tb.Fatal(err)
	}
	return path
}
