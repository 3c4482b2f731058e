// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// RecoveryMode is what the operator does when the quorum is permanently lost.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Manual", "Survivor", "Backup"]`,message=`must be Manual, which is the default, Survivor or Backup`
type RecoveryMode string

const (
	// RecoveryManual changes nothing. This is the default.
	RecoveryManual RecoveryMode = "Manual"
	// RecoverySurvivor rebuilds the cluster from the surviving member with the most recent data.
	RecoverySurvivor RecoveryMode = "Survivor"
	// RecoveryBackup restores the newest valid backup of an EtcdBackup.
	RecoveryBackup RecoveryMode = "Backup"
)

// RecoveryPolicy is what the operator does when the quorum is permanently lost. Any recovery may lose
// acknowledged writes; events report which, before and after.
//
// +kubebuilder:validation:XValidation:rule=`self.?mode.orValue("") != "Backup" || self.?backupName.orValue("") != ""`,message=`must be set, because mode is Backup`,reason=FieldValueRequired,fieldPath=`.backupName`
type RecoveryPolicy struct {
	// Manual (the default), Survivor or Backup.
	// +optional
	// +nullable
	Mode RecoveryMode `json:"mode,omitempty"`

	// Name of the EtcdBackup, in the namespace of the cluster, whose newest valid backup is restored if
	// mode is Backup.
	// +optional
	// +nullable
	BackupName string `json:"backupName,omitempty"`

	// How many seconds to wait for missing members to come back. Default: 300.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	PatienceSeconds *int64 `json:"patienceSeconds,omitempty"`

	// Allows recovery although the data of the missing members may still exist, for example on a node
	// that does not respond. Writes that only those members have stored are lost.
	// +optional
	// +nullable
	AllowDataLoss bool `json:"allowDataLoss,omitempty"`
}
