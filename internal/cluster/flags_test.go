// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

func TestDefaultsAreNamesThatKubernetesTakes(t *testing.T) {
	for args, tc := range map[string]struct {
		want    manifests.Defaults
		refused string
	}{
		"": {},
		"-default-repository=registry.example.com:5000/mirror/etcd": {want: manifests.Defaults{Repository: "registry.example.com:5000/mirror/etcd"}},
		"-image-pull-secrets=a,b.c":                                 {want: manifests.Defaults{PullSecrets: []string{"a", "b.c"}}},
		"-default-repository=":                                      {refused: `"" is not the name of a repository`},
		"-default-repository=mirror/":                               {refused: `"mirror/" is not the name of a repository`},
		"-default-repository=mirror/etcd:v3.6.16":                   {refused: "without a tag"},
		"-default-repository=mirror/etcd@sha256:ab":                 {refused: "without a tag"},
		"-image-pull-secrets=":                                      {refused: `"" is not the name of a Secret`},
		"-image-pull-secrets=a,B":                                   {refused: `"B" is not the name of a Secret`},
	} {
		var got manifests.Defaults
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		DefaultsFlags(fs, &got)
		err := fs.Parse(strings.Fields(args))
		switch {
		case tc.refused != "":
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("%q: %v, want %q", args, err, tc.refused)
			}
		case err != nil:
			t.Errorf("%q: %v", args, err)
		default:
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", args, diff)
			}
		}
	}
}
