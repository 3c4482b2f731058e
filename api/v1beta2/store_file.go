// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// FileBackupSource is where a backup goes on a mounted volume.
type FileBackupSource struct {
	// Destination of the backup, as <folder>/<key>, in the folder of this object's namespace on the volume
	// that the operator's flag -file-store-dir names.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/.][^/]*(/[^/.][^/]*)+$")`,message=`must be a folder, a slash and the key, such as nightly/etcd.backup, without names that begin with a dot`
	Path string `json:"path"`
}

// FileRestoreSource is where a backup is on a mounted volume.
type FileRestoreSource struct {
	// Location of the backup, as <folder>/<key>, in the folder of this object's namespace on the volume
	// that the operator's flag -file-store-dir names.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/.][^/]*(/[^/.][^/]*)+$")`,message=`must be a folder, a slash and the key, such as nightly/etcd.backup, without names that begin with a dot`
	Path string `json:"path"`
}
