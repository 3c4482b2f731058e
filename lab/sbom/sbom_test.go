// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func example() Image {
	dep := func(path, version string) *debug.Module {
		return &debug.Module{Path: path, Version: version, Sum: "h1:" + path}
	}
	replaced := dep("example.org/replaced", "v1.0.0")
	replaced.Replace = dep("example.org/fork", "v1.0.1")
	return Image{
		Name: "operator", Version: "v1.2.3",
		Programs: map[string]*buildinfo.BuildInfo{
			"/usr/local/bin/b": {GoVersion: "go1.26.8", Path: "example.org/us/cmd/b", Deps: []*debug.Module{dep("k8s.io/api", "v0.37.2"), replaced}},
			"/usr/local/bin/a": {GoVersion: "go1.26.8", Path: "example.org/us/cmd/a", Deps: []*debug.Module{dep("k8s.io/api", "v0.37.2")}},
		},
		Data: []Module{{Path: "example.org/roots", Version: "v0.0.1", Sum: "h1:x"}},
	}
}

func read(t *testing.T, content []byte) document {
	t.Helper()
	var d document
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func document23(t *testing.T, image Image) []byte {
	t.Helper()
	content, err := Document(image)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestEveryModuleOfEveryProgramIsListedOnce(t *testing.T) {
	d := read(t, document23(t, example()))
	var got []string
	for _, p := range d.Packages {
		got = append(got, p.Name+" "+p.VersionInfo)
	}
	slices.Sort(got)
	want := []string{
		"a v1.2.3", "b v1.2.3", "example.org/fork v1.0.1", "example.org/roots v0.0.1", "k8s.io/api v0.37.2", "operator v1.2.3", "stdlib 1.26.8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	wantRelations := []relationship{
		{documentID, "DESCRIBES", imageID},
		{imageID, "CONTAINS", "SPDXRef-Program-a"},
		{"SPDXRef-Program-a", "DEPENDS_ON", "SPDXRef-Module-stdlib-1.26.8"},
		{"SPDXRef-Program-a", "DEPENDS_ON", "SPDXRef-Module-k8s.io-api-v0.37.2"},
		{imageID, "CONTAINS", "SPDXRef-Program-b"},
		{"SPDXRef-Program-b", "DEPENDS_ON", "SPDXRef-Module-stdlib-1.26.8"},
		{"SPDXRef-Program-b", "DEPENDS_ON", "SPDXRef-Module-example.org-fork-v1.0.1"},
		{"SPDXRef-Program-b", "DEPENDS_ON", "SPDXRef-Module-k8s.io-api-v0.37.2"},
		{imageID, "CONTAINS", "SPDXRef-Module-example.org-roots-v0.0.1"},
	}
	if diff := cmp.Diff(wantRelations, d.Relationships); diff != "" {
		t.Errorf("relationships (-want +got):\n%s", diff)
	}
}

// The rules of SPDX 2.3 that a reader checks first.
func TestTheDocumentFollowsTheRulesOfSPDX(t *testing.T) {
	content := document23(t, example())
	d := read(t, content)
	if d.SPDXVersion != "SPDX-2.3" || d.DataLicense != "CC0-1.0" || d.SPDXID != documentID || d.Name == "" || d.DocumentNamespace == "" {
		t.Errorf("head of the document: %+v", d)
	}
	if !bytes.Contains(content, []byte(`"created": "1970-01-01T00:00:00Z"`)) {
		t.Error("the time of creation is not written as SPDX wants it")
	}
	allowed := regexp.MustCompile(`^SPDXRef-[a-zA-Z0-9.-]+$`)
	known := map[string]bool{documentID: true}
	for _, p := range d.Packages {
		if !allowed.MatchString(p.SPDXID) || known[p.SPDXID] {
			t.Errorf("identifier %q is not allowed, or is there twice", p.SPDXID)
		}
		known[p.SPDXID] = true
		if p.Name == "" || p.DownloadLocation == "" || p.LicenseConcluded == "" || p.LicenseDeclared == "" || p.CopyrightText == "" {
			t.Errorf("a mandatory field of %s is empty: %+v", p.SPDXID, p)
		}
	}
	for _, r := range d.Relationships {
		if !known[r.Element] || !known[r.Related] {
			t.Errorf("%v names something that is not in the document", r)
		}
	}
}

func TestEqualImagesHaveEqualDocumentsAndOthersAnotherName(t *testing.T) {
	first, second := document23(t, example()), document23(t, example())
	if !bytes.Equal(first, second) {
		t.Error("two documents of one image differ")
	}
	other := example()
	other.Data[0].Version = "v0.0.2"
	if a, b := read(t, first), read(t, document23(t, other)); a.DocumentNamespace == b.DocumentNamespace {
		t.Errorf("documents that differ have one name: %s", a.DocumentNamespace)
	}
}

func TestAnImageWithoutProgramsIsRefused(t *testing.T) {
	if _, err := Document(Image{Name: "empty"}); err == nil {
		t.Error("it was described")
	}
}
