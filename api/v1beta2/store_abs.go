// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// Keys of the Secret that absSecret names.
const (
	// AzureSecretStorageAccount is the key of the name of the storage account.
	AzureSecretStorageAccount = "storage-account"
	// AzureSecretStorageKey is the key of the access key of the storage account.
	AzureSecretStorageKey = "storage-key"
	// AzureCloudKey is the key of the name of the Azure cloud.
	AzureCloudKey = "cloud"
)

// ABSBackupSource is where a backup goes in Azure Blob Storage.
type ABSBackupSource struct {
	// Destination of the backup, as <container>/<key>. The container must exist.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the container, a slash and the key, such as mycontainer/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "storage-account" and "storage-key", and "cloud" if it is not the public cloud.
	// +kubebuilder:validation:MinLength=1
	ABSSecret string `json:"absSecret"`
	// URL of the service, including the account. Default: that of the account in its cloud.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}

// ABSRestoreSource is where a backup is in Azure Blob Storage.
type ABSRestoreSource struct {
	// Location of the backup, as <container>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the container, a slash and the key, such as mycontainer/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "storage-account" and "storage-key", and "cloud" if it is not the public cloud.
	// +kubebuilder:validation:MinLength=1
	ABSSecret string `json:"absSecret"`
	// URL of the service, including the account. Default: that of the account in its cloud.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}
