// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// One operator serves all tenants, and has an identity in the cloud. A tenant may create EtcdBackups and Secrets, and
// chooses the servers that the operator speaks to. None of its objects gets at the identity, at the machine that the
// operator runs on or at the API server, and none of them ends the operator.
func TestAHostileTenantGetsNothing(t *testing.T) {
	// Not beside other tests: the operator serves their objects too.
	etcd := startEtcd(t, "v3.6.16", 1)
	s3 := stores.StartS3(t)
	e := newEnv(t, s3)
	// It stands for all that is refused: the metadata of a cloud, and what listens on the operator's own machine.
	metadata := startTrap(t, "127.0.0.2")
	// It is allowed, and is the tenant's own: whatever the operator shows to it, the tenant has.
	evil := startEvilS3(t, metadata.url())
	secret := func(name, credentials, config string) {
		server.NewSecret(t, e.namespace, name, map[string][]byte{"credentials": []byte(credentials), "config": []byte(config)})
	}
	const keys = "[default]\naws_access_key_id = AKIATENANTTENANTTENA\naws_secret_access_key = tenanttenanttenanttenant\n"
	secret("nothing", "", "[default]\n")
	secret("keys", keys, "[default]\nregion = eu-test-1\n")
	secret("role", "", "[default]\nrole_arn = arn:aws:iam::1:role/x\ncredential_source = Environment\n")
	secret("token", "", "[default]\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = /var/run/secrets/eks.amazonaws.com/token\n")
	secret("region", keys, fmt.Sprintf("[default]\nregion = %s/#\n", strings.TrimPrefix(evil.url(), "http://")))

	p := startOperator(t, launch{
		namespace: server.NewNamespace(t), args: []string{"-cluster-wide", "-serve-unannotated"},
		env: []string{"AWS_ACCESS_KEY_ID=AKIAOPERATOROPERATOR", "AWS_SECRET_ACCESS_KEY=operatoroperatoroperator", "AWS_EC2_METADATA_DISABLED=true"},
	})
	at := func(secret, endpoint string) func(*v1beta2.EtcdBackup) {
		return func(b *v1beta2.EtcdBackup) { b.Spec.S3.AWSSecret, b.Spec.S3.Endpoint = secret, endpoint }
	}
	from := func(endpoints ...string) func(*v1beta2.EtcdBackup) {
		return func(b *v1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = endpoints }
	}
	for _, test := range []struct {
		name   string
		change func(*v1beta2.EtcdBackup)
		reason string
		words  []string
	}{
		{"identity-for-a-server-of-the-tenant", at("nothing", evil.url()), "InvalidStore", []string{"-pod-identity"}},
		{"identity-for-another-bucket", at("nothing", ""), "InvalidStore", []string{"-pod-identity"}},
		{"identity-for-a-role", at("role", ""), "InvalidStore", []string{"-pod-identity"}},
		{"identity-by-a-token", at("token", ""), "InvalidStore", []string{"-pod-identity"}},
		{"region-that-is-a-host", at("region", ""), "InvalidStore", []string{"region"}},
		{"store-at-the-metadata", at("keys", metadata.url()), "InvalidStore", []string{"loopback address"}},
		{"store-at-the-api-server", at("keys", server.Config().Host), "InvalidStore", []string{"the Kubernetes API server"}},
		{"store-that-redirects", at("keys", evil.url()), "", []string{evil.address}},
		{"etcd-at-the-metadata", from(metadata.url()), "EtcdUnavailable", []string{"loopback address"}},
		{"etcd-at-the-api-server", from(server.Config().Host), "EtcdUnavailable", []string{"the Kubernetes API server"}},
		{"etcd-without-headers", from(startEvilEtcd(t, &evilEtcd{})), "", nil},
		{"etcd-that-names-others", from(startEvilEtcd(t, &evilEtcd{id: 1, peers: metadata.url()})), "", nil},
		{"etcd-of-huge-messages", from(startEvilEtcd(t, &evilEtcd{id: 1, blob: 3 << 20})), "EtcdUnavailable", []string{"larger than max"}},
		{"too-many-endpoints", from(slices.Repeat([]string{"http://127.0.0.1:1"}, 40)...), "InvalidSpec", []string{"32"}},
		{
			"every-second", func(b *v1beta2.EtcdBackup) {
				b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: "@every 1s"}}
			}, "InvalidSpec", []string{"once a minute"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := e.backup(test.name, "tenants/"+test.name, etcd.urls()...)
			test.change(b)
			e.create(b)
			got := e.await(test.name, "refused", func(b *v1beta2.EtcdBackup) bool {
				c := meta.FindStatusCondition(b.Status.Conditions, "Ready")
				return c != nil && c.Status == metav1.ConditionFalse && c.Reason != "InProgress"
			})
			ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
			if test.reason != "" && ready.Reason != test.reason {
				t.Errorf("the reason is %s: %s", ready.Reason, ready.Message)
			}
			for _, word := range test.words {
				if !strings.Contains(ready.Message, word) {
					t.Errorf("the message lacks %q: %s", word, ready.Message)
				}
			}
			if len(ready.Message) > 2000 || strings.ContainsAny(ready.Message, "\x1b\n\x00") {
				t.Errorf("the message is %q", ready.Message)
			}
		})
	}
	for _, leak := range []string{"AKIAOPERATOR", "Bearer"} {
		if seen := evil.saw(leak); seen != "" {
			t.Errorf("the tenant's server was shown %s", seen)
		}
	}
	if n := metadata.asked.Load(); n != 0 {
		t.Errorf("%d connections were made to an address that is refused", n)
	}
	// The operator lives, and serves others.
	if status, _, err := p.Get(t.Context(), "/healthz"); err != nil || status != http.StatusOK {
		t.Fatalf("the operator: %d, %v", status, err)
	}
	other := newEnv(t, s3)
	other.create(other.backup("honest", "honest", etcd.urls()...))
	other.await("honest", "made", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
}

// Four objects of one tenant, whose etcd sends a few bytes now and then, take no time from another.
func TestSlowObjectsOfATenantHoldUpNobodyElse(t *testing.T) {
	// Not beside other tests: the operator serves their objects too.
	etcd := startEtcd(t, "v3.6.16", 1)
	s3 := stores.StartS3(t)
	slow, honest := newEnv(t, s3), newEnv(t, s3)
	startOperator(t, launch{namespace: server.NewNamespace(t), args: []string{"-cluster-wide", "-serve-unannotated"}})
	trickles := &evilEtcd{id: 1, trickle: true}
	endpoint := startEvilEtcd(t, trickles)
	for i := range 4 {
		b := slow.backup(fmt.Sprintf("slow-%d", i), fmt.Sprintf("slow/%d", i), endpoint)
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutInSecond: 3600}
		slow.create(b)
	}
	trickles.await(t, 2)
	honest.create(honest.backup("honest", "honest", etcd.urls()...))
	honest.await("honest", "made", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
}
