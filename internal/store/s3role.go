// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// sessionName is what Amazon's logs show for who has taken on a role.
const sessionName = "etcd-backup-operator"

// credentials is how to sign requests: with the keys of the secret, with those of a role, or, where the secret names
// neither, with the identity that the pod has from its environment, its service account or its node.
func (s awsSettings) credentials(ctx context.Context, c Config, transport http.RoundTripper) (*credentials.Credentials, error) {
	if s.needsPod() {
		if err := mayUsePod(c, c.Endpoint != "" || s.endpoint != "", s.region != ""); err != nil {
			return nil, err
		}
		s.region = podRegion()
	}
	switch {
	case s.roleARN == "" && s.keys.id == "":
		return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, metadataOfPod()}), nil
	case s.roleARN == "":
		return s.static(), nil
	case s.tokenFile != "":
		return s.byToken(c, transport)
	}
	source, err := s.source(c)
	if err != nil {
		return nil, err
	}
	endpoint := stsEndpoint(s.region)
	if s.endpoint != "" { // a compatible service has roles of its own
		u, err := endpointOf(ctx, c, s.endpoint)
		if err != nil {
			return nil, err
		}
		endpoint = u.String()
	}
	return credentials.New(&role{source: source, STSAssumeRole: credentials.STSAssumeRole{
		Client: &http.Client{Transport: transport}, STSEndpoint: endpoint,
		Options: credentials.STSAssumeRoleOptions{RoleARN: s.roleARN, ExternalID: s.externalID, RoleSessionName: sessionName, Location: s.region},
	}}), nil
}

// needsPod reports whether the secret leaves it to the operator's pod who asks.
func (s awsSettings) needsPod() bool {
	return s.keys.id == "" || (s.roleARN != "" && s.tokenFile != "")
}

// podRegion is the region that the operator's pod was given with its identity.
func podRegion() string {
	if region := os.Getenv("AWS_REGION"); kind.IsRegion(region) {
		return region
	}
	return ""
}

// podEndpoint is where the identity of the operator's pod is used. China has a service of its own.
func podEndpoint() string {
	if region := podRegion(); strings.HasPrefix(region, "cn-") {
		return "https://s3." + region + ".amazonaws.com.cn"
	}
	return s3DefaultEndpoint
}

// metadataOfPod is the identity that the pod has from its service account or its node. Its address is the cloud's and not
// an object's, so that it is asked directly.
func metadataOfPod() *credentials.IAM {
	return &credentials.IAM{Client: &http.Client{Timeout: metadataPatience, Transport: http.DefaultTransport}}
}

func (s awsSettings) static() *credentials.Credentials {
	return credentials.NewStaticV4(s.keys.id, s.keys.secret, s.keys.token)
}

// source is who takes on the role.
func (s awsSettings) source(c Config) (*credentials.Credentials, error) {
	switch {
	case s.keys.id != "":
		return s.static(), nil
	case s.credentialSource == "Environment":
		return credentials.New(&credentials.EnvAWS{}), nil
	case s.credentialSource == "Ec2InstanceMetadata", s.credentialSource == "EcsContainer":
		return credentials.New(metadataOfPod()), nil
	case s.credentialSource != "":
		return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf(
			"credential_source in secret %q has to be Environment, Ec2InstanceMetadata or EcsContainer", c.SecretName)}
	}
	return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf(
		"secret %q names a role_arn, and not who takes it on: add keys, source_profile, credential_source or web_identity_token_file", c.SecretName)}
}

// eksTokens is where Amazon's Kubernetes puts tokens for its STS into pods.
const eksTokens = "/var/run/secrets/eks.amazonaws.com/" //nolint:gosec // a folder, and no token

// byToken takes on the role with a token of the operator's pod. The author of a secret decides neither which files
// of the operator are read nor where they are sent to: the file has to be one that was put there for this purpose, and
// it goes to Amazon's own service.
func (s awsSettings) byToken(c Config, transport http.RoundTripper) (*credentials.Credentials, error) {
	file := filepath.Clean(s.tokenFile)
	if file != os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") && !strings.HasPrefix(file, eksTokens) {
		return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf(
			"web_identity_token_file in secret %q has to be a file below %s, or the one that AWS_WEB_IDENTITY_TOKEN_FILE of the operator's pod names", c.SecretName, eksTokens)}
	}
	return credentials.New(&credentials.STSWebIdentity{
		Client: &http.Client{Transport: transport}, STSEndpoint: stsEndpoint(s.region), RoleARN: s.roleARN,
		GetWebIDTokenExpiry: func() (*credentials.WebIdentityToken, error) {
			token, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading the token of the pod: %w", err)
			}
			return &credentials.WebIdentityToken{Token: strings.TrimSpace(string(token))}, nil
		},
	}), nil
}

// stsEndpoint is where Amazon hands out the keys of roles. China has a domain of its own.
func stsEndpoint(region string) string {
	switch {
	case region == "":
		return credentials.DefaultSTSRoleEndpoint
	case strings.HasPrefix(region, "cn-"):
		return "https://sts." + region + ".amazonaws.com.cn"
	}
	return "https://sts." + region + ".amazonaws.com"
}

// role takes on a role with keys that may change: those of a pod or a node last for some hours.
type role struct {
	credentials.STSAssumeRole
	source *credentials.Credentials
}

// RetrieveWithCredContext implements credentials.Provider.
func (r *role) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	keys, err := r.source.GetWithContext(cc)
	if err != nil {
		return credentials.Value{}, fmt.Errorf("asking for the identity of the pod: %w", err)
	}
	if keys.AccessKeyID == "" {
		return credentials.Value{}, errors.New("the operator's pod has no identity that could take on the role")
	}
	r.Options.AccessKey, r.Options.SecretKey, r.Options.SessionToken = keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken
	return r.STSAssumeRole.RetrieveWithCredContext(cc)
}

// Retrieve implements credentials.Provider.
func (r *role) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }
