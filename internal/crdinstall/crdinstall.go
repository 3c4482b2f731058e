// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package crdinstall brings the definition of a kind into place when an operator starts: it creates the
// CustomResourceDefinition, or upgrades one that an older release, the original etcd-operator or a fork
// of it has left. Objects that exist stay; a definition is never deleted.
//
// It needs the rights to get, create and update the one definition, and no others.
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
	// establishTimeout is how long an API server may take to serve a definition before that is said.
	establishTimeout = 20 * time.Second
	// establishPoll is short because the API server needs only moments. It is a poll and not a watch
	// because a watch would need the right to watch all definitions.
	establishPoll = 100 * time.Millisecond
)

// errRaced says that somebody else changed the definition at the same moment, another operator as a rule.
// It is worth another look at once.
var errRaced = errors.New("somebody else changed the definition at the same moment")

// Ensure brings the definition into place and returns as soon as the API server serves its kind. It tries
// again until it succeeds or ctx ends, and tells waiting, which may be nil, each time what it waits for.
func Ensure(
	ctx context.Context, cfg *rest.Config, definition *apiextensionsv1.CustomResourceDefinition,
	log logr.Logger, waiting func(reason string),
) error {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = requestTimeout
	api, err := apiextensionsclient.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("making a client for CustomResourceDefinitions: %w", err)
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
			return fmt.Errorf("installing the definition %s: %w", definition.Name, ctx.Err())
		}
		pause := backoff.Step()
		if !errors.Is(err, errRaced) {
			reason := advise(err)
			i.log.Info("The definition is not in place yet", "reason", reason, "nextTry", pause.String())
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

// advise says in words what went wrong and, where it is the user's to mend, what to do.
func advise(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%v; give the operator's service account that right, or install the definition "+
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

// write creates or upgrades the definition where that is called for.
func (i installer) write(ctx context.Context) error {
	existing, err := i.definitions.Get(ctx, i.definition.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return i.create(ctx)
	}
	if err != nil {
		return fmt.Errorf("reading the definition: %w", err)
	}
	if existing.DeletionTimestamp != nil {
		return errors.New("the definition is being deleted; it is created again as soon as it is gone")
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
		return fmt.Errorf("upgrading the definition: %w", err)
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
		return fmt.Errorf("creating the definition: %w", err)
	}
	i.log.Info("Created the definition")
	return nil
}

// awaitEstablished waits until the API server serves the kind.
func (i installer) awaitEstablished(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, establishPoll, establishTimeout, true, func(ctx context.Context) (bool, error) {
		current, err := i.definitions.Get(ctx, i.definition.Name, metav1.GetOptions{})
		if err != nil {
			return false, fmt.Errorf("reading the definition: %w", err)
		}
		return served(current)
	})
	if wait.Interrupted(err) {
		return errors.New("the API server does not serve the definition yet")
	}
	return err
}

// served tells whether the API server serves a definition. An error says why it never will as things are.
func served(definition *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	established := false
	for _, c := range definition.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			return false, fmt.Errorf("the API server refuses the names of the definition: %s; remove the other definition "+
				"that uses them", c.Message)
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			established = true
		}
	}
	return established, nil
}
