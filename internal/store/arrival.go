// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"time"
)

const (
	// arrivalPatience is how long an object is looked for whose completion was not answered. It may happen after the
	// context has ended.
	arrivalPatience = 20 * time.Second
	// arrivalPause is the pause between two looks.
	arrivalPause = time.Second
)

// arrived reports whether an object is there after all, although the completion of its upload failed. The answer may
// have been lost, or have come too late: then the service has assembled the object, and a repeated request finds no such
// upload. look is the size of what is there under the key, and its metadata. The mark in that tells this upload from
// every other one, and the service assembles all of its parts or none; the size shows that it knows of all.
//
// Where the service has refused it, one look is enough. Where nobody knows what became of it, it may still be about it.
func arrived(ctx context.Context, m mark, size int64, refused bool, look func(context.Context) (int64, Labels, error)) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), arrivalPatience)
	defer cancel()
	for {
		n, labels, err := look(ctx)
		if err == nil && labels[markLabel] == string(m) {
			return n == size
		}
		if refused {
			return false
		}
		select {
		case <-time.After(arrivalPause):
		case <-ctx.Done():
			return false
		}
	}
}
