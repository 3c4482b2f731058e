// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"flag"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// DefaultsFlags registers the flags for what a spec does not say.
func DefaultsFlags(fs *flag.FlagSet, d *manifests.Defaults) {
	fs.Func("default-repository",
		"`repository` of etcd's image, without a tag, for clusters whose spec names none (default "+v1beta2.DefaultRepository+"); members that run are not restarted for it",
		func(value string) (err error) {
			d.Repository, err = parseRepository(value)
			return err
		})
	fs.Func("image-pull-secrets",
		"`names` of the Secrets, separated by commas, in the namespace of each cluster, with which the images of members are pulled if the spec names none",
		func(value string) (err error) {
			d.PullSecrets, err = parseSecretNames(value)
			return err
		})
}

// parseRepository reads the name of a repository. A tag in it would stand before that of the version.
func parseRepository(value string) (string, error) {
	name := value[strings.LastIndex(value, "/")+1:]
	if name == "" || strings.ContainsAny(name, ":@") || strings.ContainsAny(value, " \t\n") {
		return "", fmt.Errorf("%q is not the name of a repository without a tag, such as %s", value, v1beta2.DefaultRepository)
	}
	return value, nil
}

// parseSecretNames reads a list of names of Secrets.
func parseSecretNames(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if problems := validation.IsDNS1123Subdomain(names[i]); len(problems) > 0 {
			return nil, fmt.Errorf("%q is not the name of a Secret: %s", names[i], problems[0])
		}
	}
	return names, nil
}
