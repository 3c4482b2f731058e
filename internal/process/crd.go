// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
)

// servedPoll is how often the API server is asked whether it serves the kind. Asking
// costs it little, and there is nothing to watch without a right to watch definitions.
const servedPoll = 500 * time.Millisecond

// awaitCRD returns when the API server serves a kind. It installs the CRD first,
// unless the user has turned that off. Until then /readyz reports what is missing;
// only the end of ctx is an error.
func awaitCRD(ctx context.Context, cfg *rest.Config, crd *apiextensionsv1.CustomResourceDefinition, s Settings, ready *readiness, logger logr.Logger) error {
	waiting := func(reason string) { ready.waitFor(fmt.Sprintf("the CRD %s: %s", crd.Name, reason)) }
	if s.createCRD {
		waiting("it is being installed")
		if err := crdinstall.Ensure(ctx, cfg, crd, logger, waiting); err != nil {
			return err
		}
	}
	logged := ""
	return awaitServed(ctx, cfg, crd, func(reason string) {
		waiting(reason)
		if reason != logged {
			logger.Info("Waiting for the CRD", "crd", crd.Name, "reason", reason)
			logged = reason
		}
	})
}

// awaitServed asks by discovery, for which every service account has the right,
// whether the kind is served.
func awaitServed(ctx context.Context, cfg *rest.Config, crd *apiextensionsv1.CustomResourceDefinition, waiting func(string)) error {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return fmt.Errorf("preparing to ask which kinds the API server serves: %w", err)
	}
	groupVersion := v1beta2.SchemeGroupVersion.String()
	err = wait.PollUntilContextCancel(ctx, servedPoll, true, func(ctx context.Context) (bool, error) {
		resources, err := client.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			waiting(fmt.Sprintf("asking the API server for it: %v", err))
			return false, nil
		case err == nil && slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool {
			return r.Name == crd.Spec.Names.Plural
		}):
			return true, nil
		default:
			waiting("the API server does not serve it yet; install it, or start the operator with -create-crd=true")
			return false, nil
		}
	})
	if err != nil {
		return fmt.Errorf("waiting for the CRD %s: %w", crd.Name, err)
	}
	return nil
}
