// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"time"
)

// metadataPatience is how long a cloud's metadata may take to answer.
const metadataPatience = 10 * time.Second

// mayUsePod fails unless the operator's own cloud identity may be used for c. The administrator has to name the bucket, and
// whoever wrote the object or its secret must not have chosen where the requests go, or whom to trust there: a
// request that is signed with this identity, or a token of it, would end up with them.
func mayUsePod(c Config, choseEndpoint, choseRegion bool) error {
	field := c.SecretField
	if field == "" {
		field = "the secret"
	}
	if !c.PodIdentity.Permits(c) {
		return &Error{Problem: BadConfig, Text: fmt.Sprintf(
			"%s names no credentials, and the identity of the operator's pod may not be used for path %q; put credentials into a secret, or let an administrator allow the path with -pod-identity",
			field, c.Path)}
	}
	for chosen, is := range map[string]bool{"an endpoint": choseEndpoint, "a region": choseRegion, "a " + caKey: len(c.Secret[caKey]) > 0} {
		if is {
			return &Error{Problem: BadConfig, Text: fmt.Sprintf(
				"the identity of the operator's pod is not used together with %s that the object or its secret names; remove that, or put credentials into the secret", chosen)}
		}
	}
	return nil
}
