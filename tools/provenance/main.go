// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command provenance writes how the files of a release were made, as an in-toto statement with SLSA's predicate. It names
// the sums of the files, the digest under which the image is pushed, the commit and the version of Go. There is no time in
// it, so that whoever makes the release again gets the same statement.
//
//	provenance FOLDER VERSION COMMIT GO_VERSION IMAGE
package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	source        = "https://github.com/etcd-operator/etcd-operator"

	// archive is the image, in the OCI layout.
	archive = "etcd-operator.tar"
)

// written are the files that are made of the others.
var written = []string{"checksums.txt", "provenance.intoto.json", "provenance.intoto.json.new"}

type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: provenance FOLDER VERSION COMMIT GO_VERSION IMAGE")
		os.Exit(2)
	}
	made, err := describe(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "provenance:", err)
		os.Exit(1)
	}
}

func describe(folder, version, commit, goVersion, image string) (statement, error) {
	s := statement{Type: statementType, PredicateType: predicateType}
	definition := &s.Predicate.BuildDefinition
	definition.BuildType = source + "/blob/main/docs/releasing.md"
	definition.ExternalParameters = map[string]string{"command": "make release VERSION=" + version, "version": version}
	definition.ResolvedDependencies = []resource{
		{URI: "git+" + source, Digest: map[string]string{"gitCommit": commit}},
		{Name: goVersion, URI: "https://go.dev/dl/#" + goVersion},
	}
	s.Predicate.RunDetails.Builder.ID = source + "/blob/main/Makefile"

	files, err := sums(folder)
	if err != nil {
		return s, err
	}
	s.Subject = files
	digest, err := imageDigest(filepath.Join(folder, archive))
	switch {
	case errors.Is(err, fs.ErrNotExist): // a release without its image, as tests make it
		return s, nil
	case err != nil:
		return s, fmt.Errorf("reading %s: %w", archive, err)
	}
	s.Subject = append(s.Subject, resource{Name: image, Digest: digest})
	return s, nil
}

// sums are the files of a folder with their sums.
func sums(folder string) ([]resource, error) {
	root := os.DirFS(folder)
	var list []resource
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || slices.Contains(written, path) {
			return err
		}
		file, err := root.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			return err
		}
		list = append(list, resource{Name: path, Digest: map[string]string{"sha256": hex.EncodeToString(sum.Sum(nil))}})
		return nil
	})
	return list, err
}

// imageDigest is the digest of what an image archive holds for all platforms, by which a registry knows it.
func imageDigest(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if err != nil {
			return nil, fmt.Errorf("looking for index.json: %w", err)
		}
		if header.Name != "index.json" {
			continue
		}
		var index struct {
			Manifests []struct {
				Digest string `json:"digest"`
			} `json:"manifests"`
		}
		if err := json.NewDecoder(reader).Decode(&index); err != nil {
			return nil, err
		}
		if len(index.Manifests) != 1 {
			return nil, fmt.Errorf("index.json names %d images", len(index.Manifests))
		}
		algorithm, sum, _ := strings.Cut(index.Manifests[0].Digest, ":")
		return map[string]string{algorithm: sum}, nil
	}
}
