// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/tls"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// What the operator puts into a member's environment is what each etcd understands, and keeps weak ciphers out.
func TestMembersAcceptNoWeakCiphers(t *testing.T) {
	t.Parallel()
	for version, folder := range server.Artifacts.Etcd {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			files, client, peer := issue(t), port.Free(t), port.Free(t)
			etcd := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(folder, "etcd"), "--data-dir", t.TempDir(), "--log-level", "error",
				"--listen-client-urls", "https://"+client, "--advertise-client-urls", "https://"+client,
				"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer,
				"--client-cert-auth", "--trusted-ca-file", files.caFile, "--cert-file", files.server.Cert, "--key-file", files.server.Key)
			etcd.Env = append(os.Environ(), memberEnvironment(version)...)
			harness.Start(t, etcd)

			try := func(least, most uint16, suites ...uint16) error {
				config := files.clientConfig.Clone()
				config.MinVersion, config.MaxVersion, config.CipherSuites = least, most, suites
				connection, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", client)
				if err == nil {
					err = connection.Close()
				}
				return err
			}
			harness.Eventually(t, harness.Patience, func(context.Context) error { return try(tls.VersionTLS13, tls.VersionTLS13) })
			if err := try(tls.VersionTLS12, tls.VersionTLS12); err != nil {
				t.Errorf("TLS 1.2 is refused: %v", err)
			}
			for _, suite := range []uint16{
				tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
			} {
				if try(tls.VersionTLS12, tls.VersionTLS12, suite) == nil {
					t.Errorf("%s is accepted", tls.CipherSuiteName(suite))
				}
			}
			if try(tls.VersionTLS10, tls.VersionTLS11) == nil {
				t.Error("TLS 1.1 is accepted")
			}
		})
	}
}

// memberEnvironment is the environment of a member with TLS for clients.
func memberEnvironment(version string) []string {
	pod := manifests.MemberPod(&v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"},
		Spec: v1beta2.ClusterSpec{Size: 1, Version: version, TLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
			Member: &v1beta2.MemberSecret{ServerSecret: "server"}, OperatorSecret: "operator",
		}}},
	}, manifests.Start{Member: "c-a", Token: "t"})
	var environment []string
	for _, e := range pod.Spec.Containers[0].Env {
		environment = append(environment, e.Name+"="+e.Value)
	}
	return environment
}
