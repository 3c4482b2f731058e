// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/outside"
)

// Permissions are what an administrator allows to the authors of objects, by flags of the operator.
type Permissions struct {
	// Addresses says where endpoints may lead. nil means what is allowed by default.
	Addresses *outside.Addresses
	// PodIdentity says for which paths the operator's own cloud identity may be used.
	PodIdentity PodIdentity
}

// Flags registers the flags.
func (p *Permissions) Flags(fs *flag.FlagSet) {
	p.Addresses = &outside.Addresses{}
	fs.Func("allow-addresses", "addresses and CIDRs, separated by commas, that endpoints of objects may lead to although they are refused by default: loopback, link-local and those of a cloud's metadata", p.Addresses.Allow)
	fs.Func("refuse-addresses", "further addresses and CIDRs, separated by commas, that endpoints of objects may not lead to", p.Addresses.Refuse)
	fs.Func("pod-identity", "buckets and folders, such as s3://bucket/{namespace}, separated by commas, for which objects without credentials may use the cloud identity of the operator's pod (default: none)", p.PodIdentity.Allow)
}

// namespaceMark stands for the namespace of an object in what an administrator names.
const namespaceMark = "{namespace}"

// PodIdentity says for which backups the operator's own cloud identity may be used: those in the buckets, and below the
// prefixes, that the administrator names. The zero value is none. Whoever may create an object would otherwise have all
// that this identity has.
type PodIdentity []Place

// Place is a bucket, or a folder in one, of one kind of store.
type Place struct{ Scheme, Path string }

// identitySchemes are the stores for which pods have identities.
var identitySchemes = []string{s3.schemes[0], gcs.schemes[0]}

// Allow adds what a flag lists: URLs such as s3://bucket/prefix/{namespace}, separated by commas.
func (p *PodIdentity) Allow(list string) error {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		scheme, path, found := strings.Cut(item, "://")
		path = strings.Trim(path, "/")
		segments := strings.Split(path, "/")
		if !found || path == "" || !slices.Contains(identitySchemes, scheme) || slices.Contains(segments, "") || slices.Contains(segments, "..") {
			return fmt.Errorf("%q does not name a bucket, or a folder in one, as %s://<bucket>/<folder> or %s://<bucket>/<folder>",
				item, identitySchemes[0], identitySchemes[1])
		}
		*p = append(*p, Place{scheme, path})
	}
	return nil
}

// Permits reports whether the identity may be used for the backup that c names. A place holds what is below it:
// what merely begins with the same letters is somewhere else, and may be somebody else's.
func (p PodIdentity) Permits(c Config) bool {
	k, ok := find(v1beta2.BackupStorageType(c.Kind))
	if !ok || c.Namespace == "" {
		return false
	}
	if _, _, err := SplitPath(c.Path); err != nil {
		return false
	}
	path := strings.TrimPrefix(c.Path, "/")
	return slices.ContainsFunc(p, func(at Place) bool {
		return slices.Contains(k.schemes, at.Scheme) && strings.HasPrefix(path, strings.ReplaceAll(at.Path, namespaceMark, c.Namespace)+"/")
	})
}

var region = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// IsRegion reports whether a text is the name of a region. It becomes part of the name of a host.
func IsRegion(text string) bool { return region.MatchString(text) }
