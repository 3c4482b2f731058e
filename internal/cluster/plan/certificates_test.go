// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

const day = 24 * time.Hour

// withTLS gives the cluster of a scene TLS for members and clients, with certificates of a year that have three quarters of it left.
func withTLS(s *scene) *scene {
	s.Cluster.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "peer", ServerSecret: "server"}, OperatorSecret: "operator",
	}}
	s.made.Spec.TLS = s.Cluster.Spec.TLS
	s.Cluster.Status.TLS = &v1beta2.TLSStatus{Clients: v1beta2.TLSInUse, Peers: v1beta2.TLSInUse}
	for i := range s.Pods {
		metav1.SetMetaDataAnnotation(&s.Pods[i].ObjectMeta, manifests.AnnotationPolicy, manifests.Fingerprint(s.made))
	}
	s.Secrets = map[string]view.Secret{}
	for _, name := range []string{"peer", "server", "operator"} {
		leaf := view.Certificate{
			IDs: []string{name}, Names: []string{"*.c.ns.svc", "c-client.ns.svc"}, NotBefore: noon.Add(-90 * day), NotAfter: noon.Add(270 * day),
		}
		authority := leaf
		authority.Names, authority.IDs = nil, []string{"ca"}
		s.Secrets[name] = view.Secret{
			Exists: true, Keys: []string{"ca.crt", "tls.crt", "tls.key"}, Certificates: map[string]view.Certificate{"tls.crt": leaf, "ca.crt": authority},
		}
	}
	return s
}

// certificateOf changes what is known of a certificate.
func certificateOf(s *scene, secret, entry string, change func(*view.Certificate)) {
	c := s.Secrets[secret].Certificates[entry]
	change(&c)
	s.Secrets[secret].Certificates[entry] = c
}

func expires(at time.Time) func(*view.Certificate) {
	return func(c *view.Certificate) { c.NotAfter = at }
}

func TestWhatIsWrongWithCertificatesIsFound(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*scene)
		want   string
	}{
		"nothing": {change: func(*scene) {}},
		"a secret that is not there": {
			change: func(s *scene) { delete(s.Secrets, "operator") },
			want:   "SecretNotUsable: Secret operator (spec.TLS.static.operatorSecret) does not exist in namespace ns: create it with the entries etcd-client.crt, etcd-client.key and etcd-client-ca.crt",
		},
		"a key of another": {
			change: func(s *scene) {
				certificateOf(s, "peer", "tls.crt", func(c *view.Certificate) { c.Problem = "does not match tls.key" })
			},
			want: "SecretNotUsable: tls.crt in Secret peer (spec.TLS.static.member.peerSecret) does not match tls.key: correct the Secret",
		},
		"one that has expired": {
			change: func(s *scene) { certificateOf(s, "server", "tls.crt", expires(noon.Add(-time.Second))) },
			want:   "CertificateExpired: tls.crt in Secret server (spec.TLS.static.member.serverSecret) expired on 2026-11-15 11:59:59 UTC: write a new one into the Secret",
		},
		"an authority that expires soon": {
			change: func(s *scene) { certificateOf(s, "peer", "ca.crt", expires(noon.Add(13*day))) },
			want:   "CertificateExpiring: ca.crt in Secret peer (spec.TLS.static.member.peerSecret) expires on 2026-11-28 12:00:00 UTC: write a new one into the Secret before that",
		},
		"one that is renewed every day": {change: func(s *scene) {
			certificateOf(s, "peer", "tls.crt", func(c *view.Certificate) { c.NotBefore, c.NotAfter = noon.Add(-16*time.Hour), noon.Add(8*time.Hour) })
		}},
		"one for later": {
			change: func(s *scene) {
				certificateOf(s, "operator", "tls.crt", func(c *view.Certificate) { c.NotBefore = noon.Add(time.Hour) })
			},
			want: "CertificateNotYetValid: tls.crt in Secret operator (spec.TLS.static.operatorSecret) is valid only from 2026-11-15 13:00:00 UTC on",
		},
		"the name of another cluster": {
			change: func(s *scene) {
				certificateOf(s, "peer", "tls.crt", func(c *view.Certificate) { c.Names = []string{"*.d.ns.svc"} })
			},
			want: "CertificateNameMissing: tls.crt in Secret peer (spec.TLS.static.member.peerSecret) lacks the name *.c.ns.svc of the members: issue it again with that name",
		},
		"no name for clients": {
			change: func(s *scene) {
				certificateOf(s, "server", "tls.crt", func(c *view.Certificate) { c.Names = []string{"*.c.ns.svc"} })
			},
			want: "CertificateNameMissing: tls.crt in Secret server (spec.TLS.static.member.serverSecret) lacks the name c-client.ns.svc of the client Service: issue it again with that name",
		},
		"an authority that nobody knows": {
			change: func(s *scene) {
				s.Distrust = []view.Distrust{{Field: "spec.TLS.static.member.serverSecret", Authority: "operator", Why: `was issued by "CN=a", and not by "CN=b"`}}
			},
			want: `CertificateUntrusted: tls.crt in Secret server (spec.TLS.static.member.serverSecret) was issued by "CN=a", and not by "CN=b", whose certificate is in Secret operator: issue it again by the authority that the other side trusts`,
		},
		"the worst comes first": {
			change: func(s *scene) {
				certificateOf(s, "peer", "tls.crt", expires(noon.Add(day)))
				certificateOf(s, "server", "tls.crt", expires(noon.Add(-time.Second)))
			},
			want: "CertificateExpired: tls.crt in Secret server (spec.TLS.static.member.serverSecret) expired on 2026-11-15 11:59:59 UTC: write a new one into the Secret\n" +
				"CertificateExpiring: tls.crt in Secret peer (spec.TLS.static.member.peerSecret) expires on 2026-11-16 12:00:00 UTC: write a new one into the Secret before that",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := withTLS(three())
			tc.change(s)
			var got []string
			for _, f := range plan.CertificateFindings(s.View) {
				got = append(got, f.Reason+": "+f.Message)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A certificate that nobody accepts is held back from members that are heard; one that was lost comes back, because its peers may
// still hear it.
func TestNoMemberGetsACertificateThatNobodyAccepts(t *testing.T) {
	expired := func(secret string) func(*scene) {
		return func(s *scene) { certificateOf(s, secret, "tls.crt", expires(noon.Add(-time.Second))) }
	}
	then := func(first func(*scene), second ...func(*scene)) func(*scene) {
		return func(s *scene) {
			first(s)
			for _, change := range second {
				change(s)
			}
		}
	}
	grow := func(s *scene) { s.Cluster.Spec.Size = 4 }
	upgraded := func(s *scene) { s.Cluster.Spec.Version = "3.6.17" }
	renamed := func(s *scene) {
		s.Cluster = s.Cluster.DeepCopy()
		s.Cluster.Spec.TLS.Static.Member.PeerSecret, s.Secrets["other"] = "other", s.Secrets["peer"]
	}
	nameless := func(s *scene) {
		certificateOf(s, "server", "tls.crt", func(c *view.Certificate) { c.Names = []string{"*.c.ns.svc"} })
	}
	check(t, map[string]planCase{
		"members that run are left alone":        {scene: withTLS(three().withVolumes()), change: expired("peer"), want: "steady state"},
		"no new member is added":                 {scene: withTLS(three()), change: then(expired("server"), grow), want: "sync-budget: patch PodDisruptionBudget c (minAvailable=3)"},
		"a lost pod comes back":                  {scene: withTLS(three().withVolumes()), change: then(expired("server"), func(s *scene) { s.losePod("c-c") }), want: "create-pods: create Pod c-c"},
		"none is restarted with it":              {scene: withTLS(three().withVolumes()), change: then(expired("peer"), upgraded), want: "wait: WaitingForSecret"},
		"nor gets another pod for it":            {scene: withTLS(three().withVolumes()), change: then(renamed, expired("other")), want: "wait: WaitingForSecret"},
		"a name that only clients miss is minor": {scene: withTLS(three()), change: then(nameless, grow), want: "grow: add member c-new as learner"},
	})
}

func TestTheDocumentListsExactlyTheFindingsThereAre(t *testing.T) {
	page, err := os.ReadFile("../../../docs/tls.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|").FindAllSubmatch(page, -1) {
		documented = append(documented, string(row[1]))
	}
	if diff := cmp.Diff(plan.Findings, documented); diff != "" {
		t.Errorf("docs/tls.md and package plan differ (-code +docs):\n%s", diff)
	}
}
