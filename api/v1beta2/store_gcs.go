// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// Keys of the Secret that gcpSecret names.
const (
	// GCPAccessToken is the key of an OAuth 2.0 access token.
	GCPAccessToken = "access-token"
	// GCPCredentialsJson is the key of a credentials file.
	GCPCredentialsJson = "credentials.json" //nolint:staticcheck // the name is the original's
)

// GCSBackupSource is where a backup goes in Google Cloud Storage.
type GCSBackupSource struct {
	// Destination of the backup, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the key "access-token" or "credentials.json". Default: the credentials of the pod.
	// +optional
	// +nullable
	GCPSecret string `json:"gcpSecret,omitempty"`
	// URL of the service. Default: that of Google Cloud.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}

// GCSRestoreSource is where a backup is in Google Cloud Storage.
type GCSRestoreSource struct {
	// Location of the backup, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the key "access-token" or "credentials.json". Default: the credentials of the pod.
	// +optional
	// +nullable
	GCPSecret string `json:"gcpSecret,omitempty"`
	// URL of the service. Default: that of Google Cloud.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}
