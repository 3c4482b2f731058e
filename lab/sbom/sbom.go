// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sbom lists what an image is made of, as an SPDX document.
//
// The compiler records in each Go program which modules it was built from, in which versions and with which sums. That record is the
// only source: nothing is guessed from lock files that may have changed since. Equal programs give equal bytes.
package sbom

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Image is what is to be described.
type Image struct {
	// Name and Version of the image.
	Name, Version string
	// Programs are the Go programs in the image, by their path in it.
	Programs map[string]*buildinfo.BuildInfo
	// Data are the modules whose data, not whose code, is in the image.
	Data []Module
}

// Module is a Go module in one version.
type Module struct {
	Path, Version string
	// Sum is the module's sum as go.sum has it.
	Sum string
}

// The parts of SPDX 2.3 that are written. The order of the fields is the order in the file.
type (
	document struct {
		SPDXVersion       string         `json:"spdxVersion"`
		DataLicense       string         `json:"dataLicense"`
		SPDXID            string         `json:"SPDXID"`
		Name              string         `json:"name"`
		DocumentNamespace string         `json:"documentNamespace"`
		CreationInfo      creationInfo   `json:"creationInfo"`
		Packages          []pkg          `json:"packages"`
		Relationships     []relationship `json:"relationships"`
	}
	creationInfo struct {
		Created  time.Time `json:"created"`
		Creators []string  `json:"creators"`
	}
	pkg struct {
		SPDXID           string        `json:"SPDXID"`
		Name             string        `json:"name"`
		VersionInfo      string        `json:"versionInfo,omitempty"`
		DownloadLocation string        `json:"downloadLocation"`
		FilesAnalyzed    bool          `json:"filesAnalyzed"`
		LicenseConcluded string        `json:"licenseConcluded"`
		LicenseDeclared  string        `json:"licenseDeclared"`
		CopyrightText    string        `json:"copyrightText"`
		SourceInfo       string        `json:"sourceInfo,omitempty"`
		Purpose          string        `json:"primaryPackagePurpose,omitempty"`
		ExternalRefs     []externalRef `json:"externalRefs,omitempty"`
	}
	externalRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	relationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

const (
	noAssertion = "NOASSERTION"
	documentID  = "SPDXRef-DOCUMENT"
	imageID     = "SPDXRef-Image"
	namespace   = "https://github.com/etcd-operator/etcd-operator/spdx/"
	own         = "Apache-2.0"
)

// Document is the SPDX 2.3 document of the image, in JSON.
func Document(image Image) ([]byte, error) {
	if len(image.Programs) == 0 {
		return nil, errors.New("an image without Go programs cannot be described")
	}
	d := &document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: documentID, Name: image.Name + "-" + image.Version,
		// As in the image itself, a real time would make equal documents differ.
		CreationInfo: creationInfo{Created: time.Unix(0, 0).UTC(), Creators: []string{"Organization: The etcd-operator Authors", "Tool: mkimage"}},
	}
	d.add(documentID, "DESCRIBES", pkg{SPDXID: imageID, Name: image.Name, VersionInfo: image.Version, LicenseDeclared: own, Purpose: "CONTAINER"})
	seen := map[string]bool{}
	module := func(of, relation string, m Module) {
		p := packageOf(m)
		if seen[p.SPDXID] {
			d.relate(of, relation, p.SPDXID)
			return
		}
		seen[p.SPDXID] = true
		d.add(of, relation, p)
	}
	for _, place := range slices.Sorted(maps.Keys(image.Programs)) {
		info := image.Programs[place]
		program := pkg{
			SPDXID: "SPDXRef-Program-" + path.Base(place), Name: path.Base(place), VersionInfo: image.Version, LicenseDeclared: own,
			Purpose: "APPLICATION", SourceInfo: fmt.Sprintf("%s, built from %s", place, info.Path),
		}
		d.add(imageID, "CONTAINS", program)
		module(program.SPDXID, "DEPENDS_ON", Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")})
		for _, m := range modulesOf(info) {
			module(program.SPDXID, "DEPENDS_ON", m)
		}
	}
	for _, m := range image.Data {
		module(imageID, "CONTAINS", m)
	}
	content, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", image.Name, err)
	}
	// A namespace names one document, and no other.
	d.DocumentNamespace = fmt.Sprintf("%s%s-%x", namespace, image.Name, sha256.Sum256(content))
	content, err = json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", image.Name, err)
	}
	return append(content, '\n'), nil
}

// modulesOf are the modules that a program was built from, without the one that the program itself is in.
func modulesOf(info *buildinfo.BuildInfo) []Module {
	all := make([]Module, 0, len(info.Deps))
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		all = append(all, Module{Path: dep.Path, Version: dep.Version, Sum: dep.Sum})
	}
	slices.SortFunc(all, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

func packageOf(m Module) pkg {
	p := pkg{
		SPDXID: "SPDXRef-Module-" + identifier(m.Path+"-"+m.Version), Name: m.Path, VersionInfo: m.Version,
		LicenseDeclared: noAssertion, Purpose: "LIBRARY",
		ExternalRefs: []externalRef{{"PACKAGE-MANAGER", "purl", fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)}},
	}
	if m.Sum != "" {
		p.SourceInfo = "go.sum: " + m.Sum
	}
	return p
}

// identifier replaces what SPDX does not allow in an identifier.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, name)
}

// add adds a package that stands in a relation to another element.
func (d *document) add(of, relation string, p pkg) {
	p.DownloadLocation, p.LicenseConcluded, p.CopyrightText = noAssertion, noAssertion, noAssertion
	d.Packages = append(d.Packages, p)
	d.relate(of, relation, p.SPDXID)
}

func (d *document) relate(element, relation, related string) {
	d.Relationships = append(d.Relationships, relationship{element, relation, related})
}
