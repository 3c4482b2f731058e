// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// Keys of the Secret that awsSecret names.
const (
	// AWSSecretCredentialsFileName is the key of the shared credentials file.
	AWSSecretCredentialsFileName = "credentials"
	// AWSSecretConfigFileName is the key of the shared config file.
	AWSSecretConfigFileName = "config"
)

// S3BackupSource is where a backup goes in S3.
type S3BackupSource struct {
	// Destination of the backup, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "credentials" and "config", which hold the files of these names of the AWS CLI.
	// +kubebuilder:validation:MinLength=1
	AWSSecret string `json:"awsSecret"`
	// URL of the service. Default: that of AWS.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
	// Addresses the bucket in the path of URLs rather than in the host name.
	// +optional
	// +nullable
	ForcePathStyle bool `json:"forcePathStyle"`
	// Profile to use from the files in the Secret. Default: default.
	// +optional
	// +nullable
	Profile string `json:"profile,omitempty"`
	// Sends a CRC32C with every request for the service to check. Many services that are compatible
	// with S3 do not support it.
	// +optional
	// +nullable
	Checksums bool `json:"checksums,omitempty"`
}

// S3RestoreSource is where a backup is in S3.
type S3RestoreSource struct {
	// Location of the backup, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "credentials" and "config", which hold the files of these names of the AWS CLI.
	// +kubebuilder:validation:MinLength=1
	AWSSecret string `json:"awsSecret"`
	// URL of the service. Default: that of AWS.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint"`
	// Addresses the bucket in the path of URLs rather than in the host name.
	// +optional
	// +nullable
	ForcePathStyle bool `json:"forcePathStyle"`
	// Profile to use from the files in the Secret. Default: default.
	// +optional
	// +nullable
	Profile string `json:"profile,omitempty"`
}
