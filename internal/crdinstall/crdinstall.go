// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package crdinstall installs the CustomResourceDefinition of a kind when an operator starts: it creates the
// CRD, or upgrades the CRD of an older release, of the original etcd-operator or of a fork. Existing objects
// are kept; a CRD is never deleted.
//
// It needs the rights to get, create and update that one CRD, and no others.
package crdinstall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

const (
	// requestTimeout bounds one request, so that an API server that does not answer is tried again.
	requestTimeout = 10 * time.Second
	// establishTimeout is how long an API server may take to serve a definition before that is reported.
	establishTimeout = 20 * time.Second
	// establishPoll is short because the API server needs only moments. It is a poll and not a watch
	// because a watch would need the right to watch all definitions.
	establishPoll = 100 * time.Millisecond
)

// errRaced says that the CRD was changed concurrently, another operator as a rule.
// It is worth another look at once.
var errRaced = errors.New("the CRD was changed concurrently")

// Ensure installs the CRD and returns as soon as the API server serves its kind. It retries until it succeeds
// or ctx ends, and each time reports to waiting, which may be nil, what it waits for.
func Ensure(
	ctx context.Context, cfg *rest.Config, definition *apiextensionsv1.CustomResourceDefinition,
	log logr.Logger, waiting func(reason string),
) error {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = requestTimeout
	api, err := apiextensionsclient.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("creating a client for CustomResourceDefinitions: %w", err)
	}
	i := installer{
		definitions: api.CustomResourceDefinitions(),
		definition:  definition,
		log:         log.WithValues("crd", definition.Name),
	}

	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 7, Cap: 15 * time.Second}
	for {
		err := i.try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("installing the CRD %s: %w", definition.Name, ctx.Err())
		}
		pause := backoff.Step()
		if !errors.Is(err, errRaced) {
			reason := advise(err)
			i.log.Info("The CRD is not installed yet", "reason", reason, "nextTry", pause.String())
			if waiting != nil {
				waiting(reason)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// advise describes what went wrong and, if the user can fix it, what to do.
func advise(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%v; give the operator's service account that right, or install the CRD "+
			"yourself and start the operator with -create-crd=false", err)
	default:
		return err.Error()
	}
}

type installer struct {
	definitions apiextensionsclient.CustomResourceDefinitionInterface
	definition  *apiextensionsv1.CustomResourceDefinition
	log         logr.Logger
}

// try makes one attempt.
func (i installer) try(ctx context.Context) error {
	if err := i.write(ctx); err != nil {
		return err
	}
	return i.awaitEstablished(ctx)
}

// write creates or upgrades the CRD if necessary.
func (i installer) write(ctx context.Context) error {
	existing, err := i.definitions.Get(ctx, i.definition.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return i.create(ctx)
	}
	if err != nil {
		return fmt.Errorf("reading the CRD: %w", err)
	}
	if existing.DeletionTimestamp != nil {
		return errors.New("the CRD is being deleted; it is recreated as soon as it is gone")
	}
	next, verdict, err := upgrade(existing, i.definition)
	if err != nil {
		return err
	}
	if next == nil {
		i.log.V(1).Info(verdict)
		return nil
	}
	_, err = i.definitions.Update(ctx, next, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return errRaced
	case err != nil:
		return fmt.Errorf("upgrading the CRD: %w", err)
	}
	i.log.Info(verdict)
	return nil
}

func (i installer) create(ctx context.Context) error {
	_, err := i.definitions.Create(ctx, i.definition, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return errRaced
	case err != nil:
		return fmt.Errorf("creating the CRD: %w", err)
	}
	i.log.Info("Created the CRD")
	return nil
}

// awaitEstablished waits until the API server serves the kind.
func (i installer) awaitEstablished(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, establishPoll, establishTimeout, true, func(ctx context.Context) (bool, error) {
		current, err := i.definitions.Get(ctx, i.definition.Name, metav1.GetOptions{})
		if err != nil {
			return false, fmt.Errorf("reading the CRD: %w", err)
		}
		return served(current)
	})
	if wait.Interrupted(err) {
		return errors.New("the API server does not serve the CRD yet")
	}
	return err
}

// served reports whether the API server serves a CRD. An error means that it will not until the user acts.
func served(definition *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	established := false
	for _, c := range definition.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			return false, fmt.Errorf("the API server refuses the names of the CRD: %s; delete the other CRD "+
				"that uses them", c.Message)
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			established = true
		}
	}
	return established, nil
}
