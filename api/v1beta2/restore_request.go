// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/types"
)

// AnnotationRestore is the annotation of an EtcdCluster by which the etcd-restore-operator asks the
// etcd-operator for a restore. It is written only after the backup was found, opened, read to its end
// and checked. Its value is a RestoreRequest.
const AnnotationRestore = GroupName + "/restore"

// The entries of the Secret that a RestoreRequest names. It lies in the namespace of the cluster and is
// mounted into the pod that fetches the backup.
const (
	// RestoreTicketToken is the entry with the bearer token that the backup is given for.
	RestoreTicketToken = "token"
	// RestoreTicketCA is the entry with the certificate authority of the server that gives it.
	RestoreTicketCA = "ca.crt"
)

// RestoreRequest asks for a cluster to be started anew from a backup.
//
// +kubebuilder:object:generate=false
type RestoreRequest struct {
	// UID of the EtcdRestore. It tells one request from the next: a request is carried out once.
	UID types.UID `json:"uid"`
	// Name of the EtcdRestore.
	Name string `json:"name"`
	// Secret is the name of the Secret with the token and the certificate authority.
	Secret string `json:"secret"`
	// URL that the snapshot is fetched from. It is always https.
	URL string `json:"url"`
	// Size is the number of bytes of the snapshot, as it is served: plain.
	Size int64 `json:"size"`
	// SHA256 is the sum over these bytes, in hexadecimal.
	SHA256 string `json:"sha256"`
	// RevisionBump is by how much the revision of the restored data is raised, with all that came before
	// marked as compacted. 0 means that it is not.
	RevisionBump int64 `json:"revisionBump"`
	// KeepVolumes asks for the volumes of the cluster that is replaced to be kept for good.
	KeepVolumes bool `json:"keepVolumes"`
}

// ErrNoRestoreRequest is what RestoreRequestOf returns where there is no request.
var ErrNoRestoreRequest = errors.New("no restore is asked for")

// RestoreRequestOf reads the request on a cluster. The error is ErrNoRestoreRequest where there is none;
// any other means that there is one which cannot be carried out.
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

// Validate says what is wrong with a request, which anybody who may change a cluster could have written.
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

// String is the value of the annotation.
func (r RestoreRequest) String() string {
	text, err := json.Marshal(r) //nolint:gosec // it is the name of a Secret, not what is in it
	if err != nil {
		// Strings, numbers and a bool: there is nothing in it that could fail.
		panic(fmt.Sprintf("encoding a restore request: %v", err))
	}
	return string(text)
}
