// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// Keys of the Secret that ossSecret names.
const (
	// AlibabaCloudSecretCredentialsAccessKeyID is the key of the ID of the access key.
	AlibabaCloudSecretCredentialsAccessKeyID = "accessKeyID"
	// AlibabaCloudSecretCredentialsAccessKeySecret is the key of the secret of the access key.
	AlibabaCloudSecretCredentialsAccessKeySecret = "accessKeySecret"
)

// OSSBackupSource is where a backup goes in Alibaba Cloud OSS.
type OSSBackupSource struct {
	// Destination of the backup, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "accessKeyID" and "accessKeySecret".
	// +kubebuilder:validation:MinLength=1
	OSSSecret string `json:"ossSecret"`
	// URL of the service. Default: https://oss-cn-hangzhou.aliyuncs.com.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}

// OSSRestoreSource is where a backup is in Alibaba Cloud OSS.
type OSSRestoreSource struct {
	// Location of the backup, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "accessKeyID" and "accessKeySecret".
	// +kubebuilder:validation:MinLength=1
	OSSSecret string `json:"ossSecret"`
	// URL of the service. Default: https://oss-cn-hangzhou.aliyuncs.com.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}
