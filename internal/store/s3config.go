// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/etcd-operator/etcd-operator/internal/store/kind"
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
	// credentialSource and tokenFile say who takes on the role where no keys do.
	credentialSource, tokenFile string
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

		credentialSource: section["credential_source"],
		tokenFile:        section["web_identity_token_file"],
	}
	if s.region != "" && !kind.IsRegion(s.region) {
		return awsSettings{}, &Error{Problem: BadConfig, Text: fmt.Sprintf("region in secret %q is not the name of a region, such as eu-central-1", c.SecretName)}
	}
	keysFrom := profile
	if s.roleARN != "" && section["source_profile"] != "" {
		keysFrom = section["source_profile"]
	}
	s.keys = keysIn(creds[keysFrom], config["profile "+keysFrom], config[keysFrom])
	if s.keys.id != "" && s.keys.secret == "" {
		return awsSettings{}, &Error{Problem: BadConfig, Text: fmt.Sprintf("secret %q has an aws_access_key_id without an aws_secret_access_key", c.SecretName)}
	}
	return s, nil
}

// keysIn are the keys in the first of the sections that has any.
func keysIn(sections ...map[string]string) awsKeys {
	for _, section := range sections {
		if id := section["aws_access_key_id"]; id != "" {
			return awsKeys{id, section["aws_secret_access_key"], section["aws_session_token"]}
		}
	}
	return awsKeys{}
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
