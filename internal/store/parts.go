// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
)

// firstPartSize bounds the memory of an upload: a few parts of this size are in flight.
var firstPartSize = 8 << 20

// SmallParts sets the size of the first parts for the simulation, whose snapshots are small as well. It is for the
// beginning of a process: nothing may be on its way.
func SmallParts(size int) { firstPartSize = size }

const (
	// partsPerSize is after how many parts the size doubles. Services allow 10,000 parts: with parts
	// of 8 MiB to begin with that is enough for their largest objects, and databases of up to 8 GiB,
	// etcd's own advice, are sent in parts of one size, which some services insist on. With its sum, and
	// encrypted, such a database is a little larger.
	partsPerSize = 1050
	// partsInFlight is how many parts are sent while the next one is read.
	partsInFlight = 2
	// abortPatience is how long aborting an upload may take. It happens after the context has ended.
	abortPatience = 20 * time.Second
)

// ErrUploadLeft is the error of a Put that failed and may have left parts in the store, because that was away. Sweep
// removes them when it is back.
var ErrUploadLeft = errors.New("parts of the upload may be left in the store")

// uploadLeftError is an error after which parts may be left.
type uploadLeftError struct{ error }

func (e *uploadLeftError) Unwrap() error        { return e.error }
func (e *uploadLeftError) Is(target error) bool { return target == ErrUploadLeft }

// upload is one object on its way in parts. Parts are sent at once, in any order.
type upload interface {
	// whole sends the object in one request.
	whole(ctx context.Context, data []byte, labels Labels) error
	begin(ctx context.Context, first Labels) error
	// part sends a part; n counts from 1.
	part(ctx context.Context, n int, data []byte) error
	// finish makes the object of all parts appear.
	finish(ctx context.Context, parts int, first, last Labels) error
	// abort undoes what begin and part did.
	abort(ctx context.Context) error
}

// partSize is the size of the n-th part, counted from 1.
func partSize(n int) int {
	return firstPartSize << ((n - 1) / partsPerSize)
}

// putParts sends body as one object. Nothing appears before the body has ended without an error.
func putParts(ctx context.Context, u upload, body io.Reader, first Labels, last func() Labels) (err error) {
	data, ended, err := readPart(body, nil, partSize(1))
	if err != nil {
		return err
	}
	if ended {
		return u.whole(ctx, data, merge(first, last()))
	}

	if err := u.begin(ctx, first); err != nil {
		if Is(err, Unreachable) || Is(err, Failed) || ctx.Err() != nil {
			return &uploadLeftError{err} // the answer may have been lost
		}
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
		defer cancel()
		if abortErr := u.abort(ctx); abortErr != nil {
			err = errors.Join(err, &uploadLeftError{abortErr})
		}
	}()
	n, err := sendParts(ctx, u, body, data)
	if err != nil {
		return err
	}
	return u.finish(ctx, n, first, last())
}

// sendParts sends first and then the rest of body, and returns how many parts that made.
func sendParts(ctx context.Context, u upload, body io.Reader, first []byte) (parts int, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	free := make(chan []byte, partsInFlight+1)
	for range partsInFlight {
		free <- nil
	}
	send := func(n int, data []byte) {
		group.Go(func() error {
			err := u.part(groupCtx, n, data)
			free <- data
			return err
		})
	}
	n := 1
	send(n, first)
	readRest := func() error {
		for ended := false; !ended; {
			var data []byte
			select {
			case data = <-free:
			case <-groupCtx.Done():
				return nil // Wait says why
			}
			data, ended, err = readPart(body, data, partSize(n+1))
			if err != nil {
				return err
			}
			if len(data) > 0 {
				n++
				send(n, data)
			}
		}
		return nil
	}
	readErr := readRest()
	partErr := group.Wait()
	switch {
	case readErr != nil:
		return n, readErr
	case partErr != nil:
		return n, partErr
	}
	return n, ctx.Err()
}

// readPart reads size bytes, or as many as body has left, using the memory of buf where it is large
// enough. Only io.EOF is the end of the body. io.ErrUnexpectedEOF in particular is not: that is what a
// connection which was cut off says, and why io.ReadFull does not serve here.
func readPart(body io.Reader, buf []byte, size int) (data []byte, ended bool, err error) {
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	n := 0
	for n < size {
		m, err := body.Read(buf[n:])
		n += m
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return buf[:n], true, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return buf, false, nil
}
