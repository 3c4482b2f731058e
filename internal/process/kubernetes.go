// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// LeastKubernetes is the oldest version of Kubernetes that has all that the operators need by default: rules of CRDs that
// can tell a creation from a change and leave alone what was stored before them (CRDValidationRatcheting), and the sleep before
// a container is stopped (PodLifecycleSleepAction).
const LeastKubernetes = "1.30"

// versionPoll is how often an API server that is too old, or does not answer, is asked again: it may be upgraded.
const versionPoll = 5 * time.Second

// awaitKubernetes returns when the API server is not too old. Until then /readyz and the log report that; only the end of ctx
// is an error.
func awaitKubernetes(ctx context.Context, cfg *rest.Config, ready *readiness, logger logr.Logger) error {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return fmt.Errorf("preparing to ask the API server for its version: %w", err)
	}
	logged := ""
	err = wait.PollUntilContextCancel(ctx, versionPoll, true, func(ctx context.Context) (bool, error) {
		var reason string
		info, err := client.ServerVersionWithContext(ctx)
		if err != nil {
			reason = fmt.Sprintf("asking the API server for its version: %v", err)
		} else {
			reason = tooOld(info.GitVersion)
		}
		if reason != "" && reason != logged {
			logger.Info("Waiting for the API server", "reason", reason)
			logged = reason
		}
		ready.waitFor(reason)
		return reason == "", nil
	})
	if err != nil {
		return fmt.Errorf("waiting for an API server that is not too old: %w", err)
	}
	return nil
}

// tooOld says that a version of Kubernetes is too old; empty where it is not, or cannot be read: whoever gives it another name
// may know better.
func tooOld(gitVersion string) string {
	found, err := utilversion.ParseGeneric(gitVersion)
	if err != nil || found.AtLeast(utilversion.MustParseGeneric(LeastKubernetes)) {
		return ""
	}
	return fmt.Sprintf("Kubernetes %s is too old: this operator needs %s or later; upgrade Kubernetes", gitVersion, LeastKubernetes)
}
