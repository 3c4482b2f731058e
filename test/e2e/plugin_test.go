// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/test/repository"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// plugin is `kubectl etcd` on the user's machine.
type plugin struct {
	*tenant.Tenant
	dir string
}

// buildPlugin builds it into a folder in which kubectl then finds it.
func buildPlugin(n *tenant.Tenant) *plugin {
	n.Helper()
	dir := n.TempDir()
	cmd := exec.CommandContext(n.Context(), "go", "build", "-o", filepath.Join(dir, "kubectl-etcd"), ".")
	cmd.Dir = filepath.Join(repository.Root(), "cmd", "kubectl-etcd")
	if out, err := cmd.CombinedOutput(); err != nil {
		n.Fatalf("building the plugin: %v\n%s", err, out)
	}
	return &plugin{n, dir}
}

// run runs a command of the plugin, which has to end with this code, and checks what it says.
func (p *plugin) run(code int, command string, says ...string) {
	p.Helper()
	words := strings.SplitN(command, " -- ", 2)
	line := fmt.Sprintf("command kubectl etcd %s --namespace=%s", words[0], p.Namespace)
	if len(words) > 1 {
		line += " -- " + words[1]
	}
	out := p.Shell(fmt.Sprintf("export PATH=%s:$PATH; code=0; %s || code=$?; echo \"exit code $code\"", p.dir, line))
	for _, part := range append(says, fmt.Sprintf("exit code %d", code)) {
		if !strings.Contains(out, part) {
			p.Errorf("kubectl etcd %s does not say %q:\n%s", command, part, out)
		}
	}
}

// All that needs real pods: port-forward with and without TLS, logs, etcdctl, a backup that is followed, a restore, and the report.
func TestThePluginWorksThroughTheAPIServerAlone(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	s3 := n.StartS3()
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	a := newAuthority(n, "secure")
	a.secret("peer-tls", "peer.crt", "peer.key", "peer-ca.crt", a.peer()...)
	a.secret("server-tls", "server.crt", "server.key", "server-ca.crt", a.server()...)
	a.secret("operator-tls", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator")
	c := &etcdCluster{Tenant: n, name: "secure", tls: a.config()}
	c.apply(`{size: 3, TLS: {static: {member: {peerSecret: peer-tls, serverSecret: server-tls}, operatorSecret: operator-tls}}}`)
	p := buildPlugin(n)
	c.awaitReady()
	c.fill(20)

	leader := c.leader()
	p.run(0, "status secure", "✔ Healthy", leader, "quorum is 2: 1 may fail", "operator (operator-tls): expires on", "no EtcdBackup of this cluster")
	p.run(0, "status secure -o json", `"lag": `, `"live": true`, `"reason": "AsSpecified"`)
	p.run(0, "list", "secure", "✔ Healthy")
	p.run(0, "logs secure --since 1h", names(c.pods())...)
	p.run(0, "etcdctl secure -- get --prefix --keys-only kept/", "kept/0000", "kept/0019")
	p.run(0, "etcdctl secure -- endpoint status -w table", names(c.pods())...)
	p.run(0, "top secure --sample 1s --depth 1", "kept/", "20")
	p.run(0, "etcdctl secure -- snapshot save "+filepath.Join(n.TempDir(), "snapshot.db"), "Snapshot saved")
	p.run(0, "move-leader secure", "was "+leader)

	n.AwaitDeployment("etcd-backup-operator")
	p.run(0, "backup secure --yes --secret aws --path "+s3.Path("by-hand")+" --verify", "created", "stored", "revision", "sha256")
	p.run(0, "status secure", "Last backup", ", verified")
	p.run(0, "defrag secure --compact --yes", names(c.pods())...)
	p.run(0, "pause secure", "paused")
	p.run(0, "resume secure", "resumed")
	p.run(4, "upgrade secure 3.9.0", "MinorVersionSkipped")
	p.run(3, "status nobody", "there is no EtcdCluster")

	report := filepath.Join(n.TempDir(), "report.tar.gz")
	p.run(0, "report secure -f "+report, "metrics/"+leader+".txt", "logs/"+leader+"/etcd.log")
	files := n.Shell("tar -xzOf " + report)
	key, err := os.ReadFile(a.certificate("unused").Key)
	if err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(string(key), "\n"); strings.Contains(files, header) || !strings.Contains(files, "etcd_server_has_leader 1") {
		t.Errorf("the report has a private key, or no metrics")
	}
}
