// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"text/template"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/volumes"
)

//go:embed manifests/coredns.yaml
var corednsManifest string

// renderCoreDNS returns the objects of the cluster's name server.
func renderCoreDNS() ([]byte, error) {
	t, err := template.New("coredns.yaml").Parse(corednsManifest)
	if err != nil {
		return nil, fmt.Errorf("manifest of CoreDNS: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, struct{ Image, Address string }{artifacts.CoreDNSImage, network.DNS}); err != nil {
		return nil, fmt.Errorf("manifest of CoreDNS: %w", err)
	}
	return b.Bytes(), nil
}

// applyAddons creates what runs in the cluster itself: the name server and the default StorageClass.
func (s *session) applyAddons(ctx context.Context, c *cluster) error {
	manifest, err := renderCoreDNS()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(s.state.Set.Bin, "kubectl"),
		"--kubeconfig="+s.Kubeconfig(), "apply", "--server-side", "--force-conflicts", "--field-manager=lab", "--filename=-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(manifest), &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("create the cluster's name server: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return volumes.EnsureDefaultClass(ctx, c.config)
}
