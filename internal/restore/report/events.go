// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// The reasons of events.
const (
	EventBackupChecked    = "BackupChecked"
	EventRestoreRequested = "RestoreRequested"
	EventRestoreSucceeded = "RestoreSucceeded"
	EventRestoreFailed    = "RestoreFailed"
)

// Event is something that happened to a restore.
type Event struct {
	// Type is that of Kubernetes: Normal or Warning.
	Type    string
	Reason  string
	Message string
}

// Events are what happened between two statuses of an EtcdRestore. Because they follow from what was
// written, each is reported once, whatever was lost or repeated on the way there.
func Events(before, after *v1beta2.EtcdRestore, now time.Time) []Event {
	var events []Event
	was, is := &before.Status, &after.Status
	normal := func(reason, message string) {
		events = append(events, Event{corev1.EventTypeNormal, reason, message})
	}
	cluster := after.Spec.EtcdCluster.Name
	if is.Backup != nil && was.Backup == nil {
		normal(EventBackupChecked, backupMessage(is.Backup, now))
	}
	if is.RequestTime != nil && was.RequestTime == nil {
		normal(EventRestoreRequested, fmt.Sprintf("The etcd-operator has been asked to recreate EtcdCluster %s from the backup", cluster))
	}
	if !hasEnded(was, is) {
		return events
	}
	if !is.Succeeded {
		return append(events, Event{corev1.EventTypeWarning, EventRestoreFailed, is.Reason})
	}
	message := fmt.Sprintf("EtcdCluster %s has been restored", cluster)
	if is.Backup != nil {
		message += "; " + backupMessage(is.Backup, now)
	}
	normal(EventRestoreSucceeded, message)
	return events
}

// hasEnded reports whether a restore ended between two statuses.
func hasEnded(was, is *v1beta2.RestoreStatus) bool {
	return is.CompletionTime != nil && (was.CompletionTime == nil || was.ObservedGeneration != is.ObservedGeneration)
}
