// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "crypto/rand"

// Services that take metadata only before the first part of an object take tags after its last one. Tags are set
// by key: where two uploads of one key end at the same time, those of one may end up at the object of the other.
// So both the metadata and the tags of an upload carry a mark of it, and tags with another mark say nothing.

// markLabel holds the mark of an upload.
const markLabel = "etcdbackupupload"

// mark is what tells an upload from every other one.
type mark string

func newMark() mark { return mark(rand.Text()) }

// on is labels with the mark.
func (m mark) on(labels Labels) Labels { return merge(labels, Labels{markLabel: string(m)}) }

// withTags are the labels of an object with this metadata and these tags. Neither has a mark where an older
// operator wrote them.
func withTags(metadata, tags Labels) Labels {
	labels := metadata
	if tags[markLabel] == metadata[markLabel] {
		labels = merge(metadata, tags)
	}
	delete(labels, markLabel)
	return labels
}
