// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Programs in other languages and shell scripts read these keys. They are the original's to the letter,
// with their odd capitals, and so is what is written although it is empty.
func TestJSONKeysAreThoseOfTheOriginal(t *testing.T) {
	tests := map[string]struct {
		value any
		want  string
	}{
		"an empty cluster": {
			v1beta2.EtcdCluster{}.Status,
			`{"phase":"","size":0,"readyReplicas":0,"members":{},"currentVersion":"","targetVersion":""}`,
		},
		"a spec": {
			v1beta2.ClusterSpec{
				Size: 3, Repository: "r", Version: "3.2.13", Paused: true,
				Pod: &v1beta2.PodPolicy{AntiAffinity: true, BusyboxImage: "b", DNSTimeoutInSecond: 5, ClusterDomain: ".cluster.local", Tmpfs: true},
				TLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
					Member: &v1beta2.MemberSecret{PeerSecret: "p", ServerSecret: "s"}, OperatorSecret: "o",
				}},
			},
			`{"size":3,"repository":"r","version":"3.2.13","paused":true,` +
				`"pod":{"antiAffinity":true,"resources":{},"busyboxImage":"b","DNSTimeoutInSecond":5,"ClusterDomain":".cluster.local","tmpfs":true},` +
				`"TLS":{"static":{"member":{"peerSecret":"p","serverSecret":"s"},"operatorSecret":"o"}}}`,
		},
		"an empty pod policy": {v1beta2.PodPolicy{}, `{"resources":{},"ClusterDomain":""}`},
		"a backup in S3": {
			v1beta2.BackupSpec{
				EtcdEndpoints: []string{"http://c:2379"}, StorageType: v1beta2.BackupStorageTypeS3, ClientTLSSecret: "t",
				BackupPolicy: &v1beta2.BackupPolicy{TimeoutInSecond: 1, BackupIntervalInSecond: 2, MaxBackups: 3},
				BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "b/k", AWSSecret: "aws"}},
			},
			`{"etcdEndpoints":["http://c:2379"],"storageType":"S3","backupPolicy":{"timeoutInSecond":1,"backupIntervalInSecond":2,"maxBackups":3},` +
				`"s3":{"path":"b/k","awsSecret":"aws","forcePathStyle":false},"clientTLSSecret":"t"}`,
		},
		"the other stores": {
			v1beta2.BackupSource{
				ABS: &v1beta2.ABSBackupSource{Path: "b/k", ABSSecret: "abs"},
				GCS: &v1beta2.GCSBackupSource{Path: "b/k", GCPSecret: "gcp"},
				OSS: &v1beta2.OSSBackupSource{Path: "b/k", OSSSecret: "oss", Endpoint: "e"},
			},
			`{"abs":{"path":"b/k","absSecret":"abs"},"gcs":{"path":"b/k","gcpSecret":"gcp"},"oss":{"path":"b/k","ossSecret":"oss","endpoint":"e"}}`,
		},
		"the status of a backup": {
			v1beta2.BackupStatus{Reason: "r", EtcdVersion: "v", EtcdRevision: 1},
			`{"succeeded":false,"Reason":"r","etcdVersion":"v","etcdRevision":1}`,
		},
		"a restore from S3": {
			v1beta2.RestoreSpec{
				BackupStorageType: v1beta2.BackupStorageTypeS3, EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
				RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "b/k", AWSSecret: "aws"}},
			},
			`{"backupStorageType":"S3","s3":{"path":"b/k","awsSecret":"aws","endpoint":"","forcePathStyle":false},"etcdCluster":{"name":"c"}}`,
		},
		"the status of a restore": {v1beta2.RestoreStatus{Reason: "r"}, `{"succeeded":false,"reason":"r"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tc.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAsOwnerMarksTheClusterAsController(t *testing.T) {
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: types.UID("u")}}
	yes := true
	// The original does not block the deletion of the owner; neither do we, so that no right to set
	// finalizers is needed.
	want := metav1.OwnerReference{APIVersion: "etcd.database.coreos.com/v1beta2", Kind: "EtcdCluster", Name: "c", UID: "u", Controller: &yes}
	if diff := cmp.Diff(want, cluster.AsOwner()); diff != "" {
		t.Errorf("owner reference (-want +got):\n%s", diff)
	}
}

func TestTLSPolicyTellsWhichTrafficIsSecure(t *testing.T) {
	tests := map[string]struct {
		policy       *v1beta2.TLSPolicy
		client, peer bool
	}{
		"none":   {nil, false, false},
		"empty":  {&v1beta2.TLSPolicy{}, false, false},
		"static": {&v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{}}}, false, false},
		"clients": {&v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
			Member: &v1beta2.MemberSecret{ServerSecret: "s"}, OperatorSecret: "o",
		}}, true, false},
		"an operator's secret alone": {&v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{OperatorSecret: "o"}}, true, false},
		"peers":                      {&v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "p"}}}, false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.policy.IsSecureClient(); got != tc.client {
				t.Errorf("IsSecureClient() = %v", got)
			}
			if got := tc.policy.IsSecurePeer(); got != tc.peer {
				t.Errorf("IsSecurePeer() = %v", got)
			}
		})
	}
}

func TestTheSchemeKnowsAllKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{
		"EtcdCluster", "EtcdClusterList", "EtcdBackup", "EtcdBackupList", "EtcdRestore", "EtcdRestoreList",
	} {
		if !scheme.Recognizes(v1beta2.SchemeGroupVersion.WithKind(kind)) {
			t.Errorf("the scheme does not know %s", kind)
		}
	}
}
