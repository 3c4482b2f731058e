// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationDefragment is on a pod whose database is being defragmented, or has been.
const AnnotationDefragment = "etcd.database.coreos.com/defragment"

// Defragmentation is what a pod carries of the last defragmentation of its database.
type Defragmentation struct {
	// IsBegun says that it was asked for, and nobody has seen it done.
	IsBegun bool
	// IsRepeated says that it was asked for once more: the first request seems to have been lost.
	IsRepeated bool
	// Since is when it was begun or done.
	Since time.Time
	// Size is the size of the file before it, while it is begun.
	Size int64
}

const (
	begun    = "begun"
	repeated = "repeated"
	done     = "done"
)

// NoteOn writes it onto a pod.
func (d Defragmentation) NoteOn(pod *corev1.Pod) {
	text := done + " " + d.Since.UTC().Format(time.RFC3339Nano)
	if d.IsBegun {
		word := begun
		if d.IsRepeated {
			word = repeated
		}
		text = fmt.Sprintf("%s %s %d", word, d.Since.UTC().Format(time.RFC3339Nano), d.Size)
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, AnnotationDefragment, text)
}

// DefragmentationOf reads it; what cannot be read is none.
func DefragmentationOf(pod *corev1.Pod) Defragmentation {
	words := strings.Fields(pod.Annotations[AnnotationDefragment])
	if len(words) < 2 {
		return Defragmentation{}
	}
	since, err := time.Parse(time.RFC3339Nano, words[1])
	if err != nil {
		return Defragmentation{}
	}
	if words[0] == done || len(words) != 3 {
		return Defragmentation{Since: since}
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return Defragmentation{Since: since}
	}
	return Defragmentation{IsBegun: true, IsRepeated: words[0] == repeated, Since: since, Size: size}
}
