// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// The original's API package exports 88 identifiers: 33 types, 28 constants, 7 variables, one function and
// 19 methods. All of them are listed here, with their types, so that this file compiles only as long as a
// program against the original does.

// coreosTypes are the original's types, by their names.
var coreosTypes = map[string]reflect.Type{
	"EtcdCluster":          reflect.TypeFor[v1beta2.EtcdCluster](),
	"EtcdClusterList":      reflect.TypeFor[v1beta2.EtcdClusterList](),
	"ClusterSpec":          reflect.TypeFor[v1beta2.ClusterSpec](),
	"PodPolicy":            reflect.TypeFor[v1beta2.PodPolicy](),
	"TLSPolicy":            reflect.TypeFor[v1beta2.TLSPolicy](),
	"StaticTLS":            reflect.TypeFor[v1beta2.StaticTLS](),
	"MemberSecret":         reflect.TypeFor[v1beta2.MemberSecret](),
	"ClusterStatus":        reflect.TypeFor[v1beta2.ClusterStatus](),
	"ClusterPhase":         reflect.TypeFor[v1beta2.ClusterPhase](),
	"ClusterCondition":     reflect.TypeFor[v1beta2.ClusterCondition](),
	"ClusterConditionType": reflect.TypeFor[v1beta2.ClusterConditionType](),
	"MembersStatus":        reflect.TypeFor[v1beta2.MembersStatus](),
	"EtcdBackup":           reflect.TypeFor[v1beta2.EtcdBackup](),
	"EtcdBackupList":       reflect.TypeFor[v1beta2.EtcdBackupList](),
	"BackupSpec":           reflect.TypeFor[v1beta2.BackupSpec](),
	"BackupPolicy":         reflect.TypeFor[v1beta2.BackupPolicy](),
	"BackupSource":         reflect.TypeFor[v1beta2.BackupSource](),
	"BackupStatus":         reflect.TypeFor[v1beta2.BackupStatus](),
	"BackupStorageType":    reflect.TypeFor[v1beta2.BackupStorageType](),
	"S3BackupSource":       reflect.TypeFor[v1beta2.S3BackupSource](),
	"ABSBackupSource":      reflect.TypeFor[v1beta2.ABSBackupSource](),
	"GCSBackupSource":      reflect.TypeFor[v1beta2.GCSBackupSource](),
	"OSSBackupSource":      reflect.TypeFor[v1beta2.OSSBackupSource](),
	"EtcdRestore":          reflect.TypeFor[v1beta2.EtcdRestore](),
	"EtcdRestoreList":      reflect.TypeFor[v1beta2.EtcdRestoreList](),
	"EtcdClusterRef":       reflect.TypeFor[v1beta2.EtcdClusterRef](),
	"RestoreSpec":          reflect.TypeFor[v1beta2.RestoreSpec](),
	"RestoreSource":        reflect.TypeFor[v1beta2.RestoreSource](),
	"RestoreStatus":        reflect.TypeFor[v1beta2.RestoreStatus](),
	"S3RestoreSource":      reflect.TypeFor[v1beta2.S3RestoreSource](),
	"ABSRestoreSource":     reflect.TypeFor[v1beta2.ABSRestoreSource](),
	"GCSRestoreSource":     reflect.TypeFor[v1beta2.GCSRestoreSource](),
	"OSSRestoreSource":     reflect.TypeFor[v1beta2.OSSRestoreSource](),
}

// coreosStrings are the constants that the original leaves untyped, and the names of its CRDs: programs
// use them where a string is wanted, so that they must be assignable to one.
var coreosStrings = map[string]string{
	"EtcdClusterResourceKind":                      v1beta2.EtcdClusterResourceKind,
	"EtcdClusterResourcePlural":                    v1beta2.EtcdClusterResourcePlural,
	"EtcdClusterCRDName":                           v1beta2.EtcdClusterCRDName,
	"EtcdBackupResourceKind":                       v1beta2.EtcdBackupResourceKind,
	"EtcdBackupResourcePlural":                     v1beta2.EtcdBackupResourcePlural,
	"EtcdBackupCRDName":                            v1beta2.EtcdBackupCRDName,
	"EtcdRestoreResourceKind":                      v1beta2.EtcdRestoreResourceKind,
	"EtcdRestoreResourcePlural":                    v1beta2.EtcdRestoreResourcePlural,
	"EtcdRestoreCRDName":                           v1beta2.EtcdRestoreCRDName,
	"DefaultEtcdVersion":                           v1beta2.DefaultEtcdVersion,
	"ClusterPhaseCreating":                         v1beta2.ClusterPhaseCreating,
	"ClusterPhaseRunning":                          v1beta2.ClusterPhaseRunning,
	"ClusterPhaseFailed":                           v1beta2.ClusterPhaseFailed,
	"ClusterConditionRecovering":                   v1beta2.ClusterConditionRecovering,
	"ClusterConditionScaling":                      v1beta2.ClusterConditionScaling,
	"ClusterConditionUpgrading":                    v1beta2.ClusterConditionUpgrading,
	"AWSSecretCredentialsFileName":                 v1beta2.AWSSecretCredentialsFileName,
	"AWSSecretConfigFileName":                      v1beta2.AWSSecretConfigFileName,
	"AzureSecretStorageAccount":                    v1beta2.AzureSecretStorageAccount,
	"AzureSecretStorageKey":                        v1beta2.AzureSecretStorageKey,
	"AzureCloudKey":                                v1beta2.AzureCloudKey,
	"GCPAccessToken":                               v1beta2.GCPAccessToken,
	"GCPCredentialsJson":                           v1beta2.GCPCredentialsJson,
	"AlibabaCloudSecretCredentialsAccessKeyID":     v1beta2.AlibabaCloudSecretCredentialsAccessKeyID,
	"AlibabaCloudSecretCredentialsAccessKeySecret": v1beta2.AlibabaCloudSecretCredentialsAccessKeySecret,
}

// The untyped ones must be usable as values of their types as well.
var (
	_ = []v1beta2.ClusterPhase{v1beta2.ClusterPhaseCreating, v1beta2.ClusterPhaseRunning, v1beta2.ClusterPhaseFailed}
	_ = []v1beta2.ClusterConditionType{v1beta2.ClusterConditionRecovering, v1beta2.ClusterConditionScaling, v1beta2.ClusterConditionUpgrading}
)

// coreosTyped are the constants that the original gives a type.
var coreosTyped = map[string]any{
	"ClusterPhaseNone":          v1beta2.ClusterPhaseNone,
	"ClusterConditionAvailable": v1beta2.ClusterConditionAvailable,
	"BackupStorageTypeS3":       v1beta2.BackupStorageTypeS3,
	"BackupStorageTypeABS":      v1beta2.BackupStorageTypeABS,
	"BackupStorageTypeGCS":      v1beta2.BackupStorageTypeGCS,
	"BackupStorageTypeOSS":      v1beta2.BackupStorageTypeOSS,
}

type status = v1beta2.ClusterStatus

// as states the type that a value must have.
func as[T any](value T) any { return value }

// coreosRest are the original's other variables, its function and its methods.
var coreosRest = map[string]any{
	"ErrBackupUnsetRestoreSet": as[error](v1beta2.ErrBackupUnsetRestoreSet),
	"SchemeGroupVersion":       as[schema.GroupVersion](v1beta2.SchemeGroupVersion),
	"SchemeBuilder":            as[runtime.SchemeBuilder](v1beta2.SchemeBuilder),
	"AddToScheme":              as[func(*runtime.Scheme) error](v1beta2.AddToScheme),
	"Resource":                 as[func(string) schema.GroupResource](v1beta2.Resource),

	"EtcdCluster.AsOwner":      as[func(*v1beta2.EtcdCluster) metav1.OwnerReference]((*v1beta2.EtcdCluster).AsOwner),
	"EtcdCluster.SetDefaults":  as[func(*v1beta2.EtcdCluster)]((*v1beta2.EtcdCluster).SetDefaults),
	"ClusterSpec.Validate":     as[func(*v1beta2.ClusterSpec) error]((*v1beta2.ClusterSpec).Validate),
	"TLSPolicy.Validate":       as[func(*v1beta2.TLSPolicy) error]((*v1beta2.TLSPolicy).Validate),
	"TLSPolicy.IsSecureClient": as[func(*v1beta2.TLSPolicy) bool]((*v1beta2.TLSPolicy).IsSecureClient),
	"TLSPolicy.IsSecurePeer":   as[func(*v1beta2.TLSPolicy) bool]((*v1beta2.TLSPolicy).IsSecurePeer),

	"ClusterStatus.IsFailed":                as[func(*status) bool]((*status).IsFailed),
	"ClusterStatus.SetPhase":                as[func(*status, v1beta2.ClusterPhase)]((*status).SetPhase),
	"ClusterStatus.PauseControl":            as[func(*status)]((*status).PauseControl),
	"ClusterStatus.Control":                 as[func(*status)]((*status).Control),
	"ClusterStatus.UpgradeVersionTo":        as[func(*status, string)]((*status).UpgradeVersionTo),
	"ClusterStatus.SetVersion":              as[func(*status, string)]((*status).SetVersion),
	"ClusterStatus.SetReason":               as[func(*status, string)]((*status).SetReason),
	"ClusterStatus.SetScalingUpCondition":   as[func(*status, int, int)]((*status).SetScalingUpCondition),
	"ClusterStatus.SetScalingDownCondition": as[func(*status, int, int)]((*status).SetScalingDownCondition),
	"ClusterStatus.SetRecoveringCondition":  as[func(*status)]((*status).SetRecoveringCondition),
	"ClusterStatus.SetUpgradingCondition":   as[func(*status, string)]((*status).SetUpgradingCondition),
	"ClusterStatus.SetReadyCondition":       as[func(*status)]((*status).SetReadyCondition),
	"ClusterStatus.ClearCondition":          as[func(*status, v1beta2.ClusterConditionType)]((*status).ClearCondition),
}

func TestEveryExportedNameOfTheOriginalIsHere(t *testing.T) {
	for name, typ := range coreosTypes {
		if typ.Name() != name {
			t.Errorf("%s is listed as %s", typ, name)
		}
	}
	if total := len(coreosTypes) + len(coreosStrings) + len(coreosTyped) + len(coreosRest); total != 88 {
		t.Errorf("%d names are listed, the original exports 88", total)
	}
}

// Programs write these into Secrets, and compare them with what the API server returns.
func TestConstantsHaveTheValuesOfTheOriginal(t *testing.T) {
	want := map[string]string{
		"EtcdClusterResourceKind": "EtcdCluster", "EtcdClusterResourcePlural": "etcdclusters",
		"EtcdBackupResourceKind": "EtcdBackup", "EtcdBackupResourcePlural": "etcdbackups",
		"EtcdRestoreResourceKind": "EtcdRestore", "EtcdRestoreResourcePlural": "etcdrestores",
		"EtcdClusterCRDName":   "etcdclusters.etcd.database.coreos.com",
		"EtcdBackupCRDName":    "etcdbackups.etcd.database.coreos.com",
		"EtcdRestoreCRDName":   "etcdrestores.etcd.database.coreos.com",
		"ClusterPhaseCreating": "Creating", "ClusterPhaseRunning": "Running", "ClusterPhaseFailed": "Failed",
		"ClusterConditionRecovering": "Recovering", "ClusterConditionScaling": "Scaling", "ClusterConditionUpgrading": "Upgrading",
		"AWSSecretCredentialsFileName": "credentials", "AWSSecretConfigFileName": "config",
		"AzureSecretStorageAccount": "storage-account", "AzureSecretStorageKey": "storage-key", "AzureCloudKey": "cloud",
		"GCPAccessToken": "access-token", "GCPCredentialsJson": "credentials.json",
		"AlibabaCloudSecretCredentialsAccessKeyID":     "accessKeyID",
		"AlibabaCloudSecretCredentialsAccessKeySecret": "accessKeySecret",
		// The one that differs: 3.2.13 is from 2018.
		"DefaultEtcdVersion": "3.6.16",
	}
	for name, got := range coreosStrings {
		if got != want[name] {
			t.Errorf("%s is %q, want %q", name, got, want[name])
		}
	}
}
