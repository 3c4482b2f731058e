// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// A platform that assigns users runs members, with volumes and without, under the user that it assigned: etcd can write its data,
// and the helper containers can do their work.
func TestMembersRunUnderAUserThatThePlatformAssigned(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.Kubectl("apply", "-f", "test/openshift/admission.yaml")
	n.Kubectl("label", "namespace", n.Namespace, "test.openshift/ranges=on")
	n.CreateRole()
	n.Shell(`sed -e '/runAs\(User\|Group\):/d' -e 's/^        # args:/        args: [-openshift]/' example/deployment.yaml | kubectl -n ` + n.Namespace + ` create -f -`)
	n.AwaitDeployment("etcd-operator")
	for name, spec := range map[string]string{
		"c": `{size: 3, version: "3.6.16"}`,
		"v": `{size: 1, version: "3.6.16", pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 64Mi}}}}}`,
	} {
		c := create(n, name, spec)
		c.awaitReady()
		for _, pod := range c.pods() {
			if user := pod.Spec.SecurityContext.RunAsUser; user == nil || *user != 1000650000 {
				t.Errorf("%s runs as %v", pod.Name, user)
			}
		}
	}
}
