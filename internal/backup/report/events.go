// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// Event is something that users are notified of.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Note string
}

// Events are what users are notified of when a step was carried out.
func Events(step plan.Step) []Event {
	c, ok := step.(plan.Conclude)
	if !ok {
		return nil
	}
	if p := c.Outcome.Problem; p != nil {
		return []Event{{corev1.EventTypeWarning, "BackupFailed", kstatus.ClipEvent(p.Message)}}
	}
	made := c.Outcome.Made
	list := []Event{{corev1.EventTypeNormal, "BackupSucceeded", fmt.Sprintf("Revision %d of etcd %s is in %s", made.Revision, made.Version, made.URL)}}
	if c.Previous != "" {
		list = append(list, Event{corev1.EventTypeWarning, "ClusterChanged", kstatus.ClipEvent(fmt.Sprintf(
			"etcdEndpoints lead to another etcd cluster than before. The newest backup of the previous one is kept: %s", c.Previous))})
	}
	if c.Newer.Key != "" {
		list = append(list, Event{corev1.EventTypeWarning, "BackupBehind", kstatus.ClipEvent(behind(c))})
	}
	if p := c.Outcome.RetentionProblem; p != nil {
		list = append(list, Event{corev1.EventTypeWarning, "RetentionFailed", kstatus.ClipEvent(p.Message)})
	}
	return list
}

// behind says that the backup is older than one before it, by the revision.
func behind(c plan.Conclude) string {
	return fmt.Sprintf("The backup has revision %d, but an earlier one of the same cluster has revision %d and is kept: %s. "+
		"The member that it came from was left behind; look for members without a leader",
		c.Outcome.Made.Revision, c.Newer.Revision, c.Newer.URL)
}
