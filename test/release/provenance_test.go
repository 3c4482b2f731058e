// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/test/repository"
)

// Whoever has a file of a release finds out of which commit it was made.
func TestTheProvenanceNamesEveryFile(t *testing.T) {
	out := makeRelease(t)
	text, err := os.ReadFile(filepath.Join(out, "provenance.intoto.json"))
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string
		Subject       []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				ExternalParameters   map[string]string
				ResolvedDependencies []struct{ Digest map[string]string }
			}
		}
	}
	if err := json.Unmarshal(text, &statement); err != nil {
		t.Fatal(err)
	}
	if statement.Type != "https://in-toto.io/Statement/v1" || statement.PredicateType != "https://slsa.dev/provenance/v1" {
		t.Errorf("it is a %s of %s", statement.Type, statement.PredicateType)
	}
	sums, err := os.ReadFile(filepath.Join(out, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(sums)) {
		if sum, name, _ := strings.Cut(strings.TrimSpace(line), "  "); name != "provenance.intoto.json" {
			want[name] = sum
		}
	}
	for _, subject := range statement.Subject {
		got[subject.Name] = subject.Digest["sha256"]
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-checksums +provenance)\n%s", diff)
	}
	definition := statement.Predicate.BuildDefinition
	if definition.ExternalParameters["version"] != version {
		t.Errorf("it was made with %v", definition.ExternalParameters)
	}
	head := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "rev-parse", "HEAD")
	head.Dir = repository.Root()
	commit, err := head.Output()
	if made := definition.ResolvedDependencies[0].Digest["gitCommit"]; err == nil && !strings.HasPrefix(made, strings.TrimSpace(string(commit))) {
		t.Errorf("it was made of %s", made)
	}
}

// A pre-release has the notes of the release that it comes before.
func TestAPreReleaseHasTheNewestNotes(t *testing.T) {
	out := t.TempDir()
	if text, err := exec.CommandContext(t.Context(), filepath.Join(repository.Root(), "hack/release.sh"), "v0.0.0-test", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	notes, err := os.ReadFile(filepath.Join(out, "release-notes.md"))
	if err != nil || !strings.Contains(string(notes), "\n- ") {
		t.Errorf("the notes are %q: %v", notes, err)
	}
}
