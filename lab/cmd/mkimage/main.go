// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command mkimage writes a container image out of folders, without a container engine.
package main

import (
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/lab/image"
	"github.com/etcd-operator/etcd-operator/lab/sbom"
	"github.com/etcd-operator/etcd-operator/lab/truststore"
)

func main() {
	if err := newCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "mkimage:", err)
		os.Exit(1)
	}
}

// Where programs look for what they trust, and people for what an image is made of.
const (
	trustStorePath = "/etc/ssl/certs/ca-certificates.crt"
	sbomFolder     = "/usr/share/sbom"
	versionLabel   = "org.opencontainers.image.version"
)

// options are the flags as they were given.
type options struct {
	output        string
	spec          image.Spec
	labels        []string
	platforms     []string
	temporary     bool
	trustStore    bool
	sbom          string
	noCompression bool
}

func newCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "mkimage --output FILE --tag NAME --platform OS/ARCH=FOLDER",
		Short: "Write a container image out of folders, without a container engine",
		Long: `Mkimage packs one folder per platform, each a root filesystem, into one image in the OCI layout:
a tar file that "ctr images import", "docker load", "podman load" or "skopeo copy oci-archive:FILE" reads.

Equal folders give an equal image, byte for byte: times, owners and the umask do not matter. Everything in
the image belongs to root; files are executable by all if they are executable by their owner.`,
		Example: `  mkimage --output _out/images/etcd-operator.tar --tag ghcr.io/etcd-operator/etcd-operator:dev \
    --platform linux/amd64=_out/image/amd64 --platform linux/arm64=_out/image/arm64 \
    --user 65532:65532 --tmp --entrypoint /usr/local/bin/etcd-operator \
    --label org.opencontainers.image.licenses=Apache-2.0`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.write(); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s: %s\n", o.output, strings.Join(o.spec.Tags, ", "))
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.output, "output", "", "the image file to write")
	f.StringArrayVar(&o.spec.Tags, "tag", nil, "a name of the image as HOST/PATH:TAG; may be repeated")
	f.StringArrayVar(&o.platforms, "platform", nil, "a platform and the folder with its root filesystem, as OS/ARCH=FOLDER; may be repeated")
	f.StringArrayVar(&o.spec.Entrypoint, "entrypoint", nil, "a word of the command that a container runs; may be repeated")
	f.StringArrayVar(&o.spec.Cmd, "cmd", nil, "a default argument of the entrypoint; may be repeated")
	f.StringVar(&o.spec.User, "user", "", "the user that a container runs as, as UID or UID:GID (default root)")
	f.StringVar(&o.spec.WorkingDir, "workdir", "", "the folder that a container starts in (default /)")
	f.StringArrayVar(&o.spec.Env, "env", nil, "an environment variable as NAME=VALUE; may be repeated")
	f.StringArrayVar(&o.labels, "label", nil, "a label as NAME=VALUE; may be repeated")
	f.BoolVar(&o.temporary, "tmp", false, "add a folder /tmp that everyone can write to")
	f.BoolVar(&o.trustStore, "trust-store", false, "add Mozilla's certificate authorities as "+trustStorePath)
	f.StringVar(&o.sbom, "sbom", "", "add an SPDX document that lists the modules of all Go programs, as "+sbomFolder+"/NAME.spdx.json, "+
		"and write it beside the image, as NAME-OS-ARCH.spdx.json")
	f.BoolVar(&o.noCompression, "no-compression", false, "store the files as they are: larger, and quicker to write and to load")
	for _, required := range []string{"output", "tag", "platform"} {
		if err := cmd.MarkFlagRequired(required); err != nil {
			panic(err) // only if the flag does not exist
		}
	}
	return cmd
}

// write writes the image that the flags describe.
func (o *options) write() error {
	o.spec.Compress = !o.noCompression
	o.spec.Labels = map[string]string{}
	for _, l := range o.labels {
		name, value, ok := strings.Cut(l, "=")
		if !ok || name == "" {
			return fmt.Errorf("label %q is not of the form NAME=VALUE", l)
		}
		o.spec.Labels[name] = value
	}
	for _, p := range o.platforms {
		platform, err := o.platform(p)
		if err != nil {
			return err
		}
		o.spec.Platforms = append(o.spec.Platforms, platform)
	}
	return image.Write(o.output, o.spec)
}

func (o *options) platform(flag string) (image.Platform, error) {
	name, folder, ok := strings.Cut(flag, "=")
	system, arch, split := strings.Cut(name, "/")
	if !ok || !split || folder == "" {
		return image.Platform{}, fmt.Errorf("platform %q is not of the form OS/ARCH=FOLDER", flag)
	}
	files, err := image.Tree(folder)
	if err != nil {
		return image.Platform{}, err
	}
	if len(files) == 0 {
		return image.Platform{}, fmt.Errorf("the folder %s of platform %s is empty", folder, name)
	}
	hasTmp := slices.ContainsFunc(files, func(f image.File) bool { return f.Path == "/tmp" })
	if o.temporary && !hasTmp {
		files = append(files, image.Dir("/tmp", fs.ModeSticky|0o777))
	}
	if o.trustStore {
		authorities, err := truststore.PEM()
		if err != nil {
			return image.Platform{}, err
		}
		files = append(files, image.Content(trustStorePath, authorities, 0o644))
	}
	if o.sbom != "" {
		document, err := o.describe(files)
		if err != nil {
			return image.Platform{}, fmt.Errorf("platform %s: %w", name, err)
		}
		beside := filepath.Join(filepath.Dir(o.output), fmt.Sprintf("%s-%s-%s.spdx.json", o.sbom, system, arch))
		if err := writeBeside(beside, document); err != nil {
			return image.Platform{}, err
		}
		files = append(files, image.Content(path.Join(sbomFolder, o.sbom+".spdx.json"), document, 0o644))
	}
	return image.Platform{OS: system, Architecture: arch, Files: files}, nil
}

// describe is the SPDX document of a root filesystem.
func (o *options) describe(files []image.File) ([]byte, error) {
	described := sbom.Image{Name: o.sbom, Version: o.spec.Labels[versionLabel], Programs: map[string]*buildinfo.BuildInfo{}}
	for _, f := range files {
		if f.Source == "" || f.Mode.Perm()&0o111 == 0 {
			continue
		}
		info, err := buildinfo.ReadFile(f.Source)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be listed: %w", f.Path, err)
		}
		described.Programs[f.Path] = info
	}
	if o.trustStore {
		module, err := truststore.Module()
		if err != nil {
			return nil, err
		}
		described.Data = append(described.Data, module)
	}
	return sbom.Document(described)
}

// writeBeside writes a file whose folder may not be there yet.
func writeBeside(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644) //nolint:gosec // it is to be published
}
