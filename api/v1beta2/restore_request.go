// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// AnnotationRestore is the annotation of an EtcdCluster by which the etcd-restore-operator requests a
// restore from the etcd-operator. It is written only after the backup has been located, read completely
// and validated. Its value is a RestoreRequest.
const AnnotationRestore = GroupName + "/restore"

// The keys of the Secret that a RestoreRequest names. It is in the namespace of the cluster and is mounted
// into the pod that fetches the backup.
const (
	// RestoreTicketToken is the key of the bearer token that authorizes the download of the backup.
	RestoreTicketToken = "token"
	// RestoreTicketCA is the key of the certificate authority of the server that provides it.
	RestoreTicketCA = "ca.crt"
)

// RestoreRequest is the request to restore a cluster from a backup.
//
// +kubebuilder:object:generate=false
type RestoreRequest struct {
	// UID of the EtcdRestore. It identifies the request, which is executed only once.
	UID types.UID `json:"uid"`
	// Name of the EtcdRestore.
	Name string `json:"name"`
	// Secret is the name of the Secret with the token and the certificate authority.
	Secret string `json:"secret"`
	// URL that the snapshot is fetched from. It is always https.
	URL string `json:"url"`
	// Source is the URL of the backup in its store. The cluster remembers it.
	Source string `json:"source,omitempty"`
	// Size of the snapshot in bytes as it is served, decrypted and decompressed.
	Size int64 `json:"size"`
	// SHA256 of these bytes, in hexadecimal.
	SHA256 string `json:"sha256"`
	// RevisionBump is the increase of the revision of the restored data, with all earlier revisions marked
	// as compacted. 0 leaves the revision as it is.
	RevisionBump int64 `json:"revisionBump"`
	// KeepVolumes asks for the volumes of the previous incarnation to be kept permanently.
	KeepVolumes bool `json:"keepVolumes"`
	// Deadline is until when the restore of a cluster that exists may begin. Later it must not: whoever asked
	// for it may have gone on with the data that is there. Zero means at any time.
	Deadline time.Time `json:"deadline,omitzero"`
}

// IsExpired reports whether it is too late to begin the restore of a cluster that exists.
func (r RestoreRequest) IsExpired(now time.Time) bool {
	return !r.Deadline.IsZero() && now.After(r.Deadline)
}

// ErrNoRestoreRequest is what RestoreRequestOf returns if there is no request.
var ErrNoRestoreRequest = errors.New("no restore is requested")

// RestoreRequestOf reads the request on a cluster. The error is ErrNoRestoreRequest if there is none; any
// other error means that there is one that cannot be executed.
func RestoreRequestOf(cluster *EtcdCluster) (RestoreRequest, error) {
	text, ok := cluster.Annotations[AnnotationRestore]
	if !ok {
		return RestoreRequest{}, ErrNoRestoreRequest
	}
	var r RestoreRequest
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return RestoreRequest{}, fmt.Errorf("the annotation %s is not a restore request: %w", AnnotationRestore, err)
	}
	if err := r.Validate(); err != nil {
		return RestoreRequest{}, fmt.Errorf("the annotation %s is not a restore request: %w", AnnotationRestore, err)
	}
	return r, nil
}

// Validate reports what is wrong with a request. Anybody who may update a cluster can write one.
func (r RestoreRequest) Validate() error {
	const sumLength = 64
	switch {
	case r.UID == "" || r.Name == "":
		return errors.New("uid and name of the EtcdRestore must be set")
	case r.Secret == "":
		return errors.New("secret must be set")
	case r.Size <= 0:
		return errors.New("size must be more than 0")
	case len(r.SHA256) != sumLength:
		return fmt.Errorf("sha256 must have %d hexadecimal digits", sumLength)
	case r.RevisionBump < 0:
		return errors.New("revisionBump must not be negative")
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return errors.New("url must begin with https:// and name a host")
	}
	return nil
}

// String returns the value of the annotation.
func (r RestoreRequest) String() string {
	text, err := json.Marshal(r) //nolint:gosec // it is the name of a Secret, not what is in it
	if err != nil {
		// Strings, numbers and a bool cannot fail to marshal.
		panic(fmt.Sprintf("encoding a restore request: %v", err))
	}
	return string(text)
}
