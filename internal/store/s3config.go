// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The entries of an S3 secret: the two files of the AWS command line.
const (
	credentialsFile = "credentials"
	configFile      = "config"
)

const defaultProfile = "default"

// awsSettings is what the files of a secret say for one profile.
type awsSettings struct {
	profile             string
	keys                awsKeys
	region              string
	endpoint            string
	roleARN, externalID string
}

type awsKeys struct{ id, secret, token string }

// readAWSFiles reads the profile out of the files in the secret; either may be absent.
func readAWSFiles(c Config) (awsSettings, error) {
	profile := c.Profile
	if profile == "" {
		profile = defaultProfile
	}
	creds, config := parseINI(c.Secret[credentialsFile]), parseINI(c.Secret[configFile])
	// The config file calls its sections "profile x", but for the default one.
	section := config["profile "+profile]
	if section == nil {
		section = config[profile]
	}
	if c.Profile != "" && section == nil && creds[profile] == nil {
		return awsSettings{}, &Error{Problem: BadConfig, Text: fmt.Sprintf("secret %q has no profile %q in %s or %s",
			c.SecretName, profile, credentialsFile, configFile)}
	}
	if section["credential_process"] != "" || creds[profile]["credential_process"] != "" {
		return awsSettings{}, &Error{Problem: BadConfig, Text: fmt.Sprintf(
			"secret %q asks to run a credential_process, which the operator does not do; put keys into it", c.SecretName)}
	}
	s := awsSettings{
		profile:    profile,
		region:     section["region"],
		endpoint:   section["endpoint_url"],
		roleARN:    section["role_arn"],
		externalID: section["external_id"],
	}
	keysFrom := profile
	if s.roleARN != "" && section["source_profile"] != "" {
		keysFrom = section["source_profile"]
	}
	for _, candidate := range []map[string]string{creds[keysFrom], config["profile "+keysFrom], config[keysFrom]} {
		if candidate["aws_access_key_id"] != "" {
			s.keys = awsKeys{candidate["aws_access_key_id"], candidate["aws_secret_access_key"], candidate["aws_session_token"]}
			break
		}
	}
	if s.keys.id != "" && s.keys.secret == "" {
		return awsSettings{}, &Error{Problem: BadConfig, Text: fmt.Sprintf("secret %q has an aws_access_key_id without an aws_secret_access_key", c.SecretName)}
	}
	return s, nil
}

// credentials is how to sign requests: with the keys of the secret, with those of a role that the keys
// may take on, or, where the secret has none, with the identity that the pod has from its environment,
// its service account or its node.
func (s awsSettings) credentials(c Config, transport *http.Transport) (*credentials.Credentials, error) {
	if s.keys.id == "" {
		if s.roleARN != "" {
			return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("secret %q names a role_arn without the keys that may take it on", c.SecretName)}
		}
		return credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{},
			&credentials.IAM{Region: s.region},
		}), nil
	}
	if s.roleARN == "" {
		return credentials.NewStaticV4(s.keys.id, s.keys.secret, s.keys.token), nil
	}
	sts := "https://sts.amazonaws.com"
	if s.region != "" {
		sts = "https://sts." + s.region + ".amazonaws.com"
	}
	if s.endpoint != "" {
		sts = s.endpoint
	}
	return credentials.New(&credentials.STSAssumeRole{
		Client:      &http.Client{Transport: transport},
		STSEndpoint: sts,
		Options: credentials.STSAssumeRoleOptions{
			AccessKey: s.keys.id, SecretKey: s.keys.secret, SessionToken: s.keys.token,
			RoleARN: s.roleARN, ExternalID: s.externalID, RoleSessionName: "etcd-backup-operator", Location: s.region,
		},
	}), nil
}

// parseINI reads sections of "name = value" lines. Nested settings, which are indented, are not needed here.
func parseINI(text []byte) map[string]map[string]string {
	sections := map[string]map[string]string{}
	section := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		raw := lines.Text()
		line := strings.TrimSpace(raw)
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			name := strings.Join(strings.Fields(strings.Trim(line, "[]")), " ")
			if sections[name] == nil {
				sections[name] = map[string]string{}
			}
			section = sections[name]
		case raw[0] == ' ' || raw[0] == '\t':
			// A nested setting, or a key that was indented by an editor: only the keys that we know count.
			if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(strings.TrimSpace(name), "aws_") {
				section[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		default:
			if name, value, ok := strings.Cut(line, "="); ok {
				section[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
	}
	return sections
}
