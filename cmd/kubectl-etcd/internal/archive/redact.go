// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive makes reports that can be given to others: objects, events, logs, metrics and member status in one file, without
// secrets.
package archive

import (
	"regexp"
	"slices"
	"strings"
)

// gone stands where something was taken out.
const gone = "[redacted]"

// Redactor takes secrets out of texts and objects.
type Redactor struct {
	// values are texts that are known to be secret.
	values []string
}

// shortest is how long a text has to be to be taken for a secret: shorter ones would take parts of words away.
const shortest = 6

// Learn notes the content of a Secret, so that it is found wherever it appears. Files, such as those with credentials, are
// also looked for line by line, and by the values in them.
func (r *Redactor) Learn(data map[string][]byte) {
	for name, value := range data {
		if isPublic(name) {
			continue
		}
		r.learn(string(value))
		for line := range strings.Lines(string(value)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "-----") || strings.HasPrefix(line, "[") {
				continue
			}
			r.learn(line)
			for _, separator := range []string{"=", ":"} {
				if _, after, ok := strings.Cut(line, separator); ok {
					r.learn(strings.Trim(strings.TrimSpace(after), `"',`))
				}
			}
		}
	}
	// The longest first, so that no part of one is left.
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	r.values = slices.Compact(r.values)
}

// isPublic reports whether an entry of a Secret is known to be no secret.
func isPublic(name string) bool { return strings.HasSuffix(name, ".crt") || name == "username" }

func (r *Redactor) learn(value string) {
	if value = strings.TrimSpace(value); len(value) >= shortest && !slices.Contains(r.values, value) {
		r.values = append(r.values, value)
	}
}

// patterns are what secrets look like. Where there is a group, it is kept.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
	regexp.MustCompile(`AGE-SECRET-KEY-1[0-9A-Z]+`),
	regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic)\s+)[^\s"',]+`),
	regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`([a-z][a-z0-9+.-]*://[^\s/:@"']*:)[^\s/@"']+(?:@)`),
	regexp.MustCompile(`(?i)((?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|client[_-]?secret|private[_-]?key|signature|sig)["']?\s*[:=]\s*["']?)[^\s"',;&}]+`),
}

// Text takes secrets out of a text.
func (r *Redactor) Text(text string) string {
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, gone)
	}
	for _, pattern := range patterns {
		text = pattern.ReplaceAllStringFunc(text, func(found string) string {
			kept := pattern.FindStringSubmatch(found)
			if len(kept) < 2 {
				return gone
			}
			tail := ""
			if strings.HasSuffix(found, "@") {
				tail = "@"
			}
			return kept[1] + gone + tail
		})
	}
	return text
}

// Object takes secrets out of an object in the form of JSON: values of environment variables and annotations of others,
// which may hold anything, and whatever looks like a secret. Fields that name Secrets stay: names are no secrets.
func (r *Redactor) Object(value any) any { return r.walk("", value) }

func (r *Redactor) walk(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return r.walkMap(field, value)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = r.walk(field+"[]", value[i])
		}
		return list
	case string:
		return r.Text(value)
	}
	return value
}

// envFields are those with lists of environment variables.
var envFields = []string{"env[]", "etcdEnv[]"}

func (r *Redactor) walkMap(field string, value map[string]any) map[string]any {
	out := map[string]any{}
	for name, inner := range value {
		text, isText := inner.(string)
		switch {
		case name == "managedFields":
		case field == "annotations" && isText && !isOurs(name):
			out[name] = gone
		case slices.Contains(envFields, field) && name == "value" && !isPlainVariable(value["name"]):
			out[name] = gone
		case isText && isReference(name):
			out[name] = text
		default:
			out[name] = r.walk(name, inner)
		}
	}
	return out
}

// isOurs reports whether an annotation is the operator's.
func isOurs(name string) bool {
	return strings.HasPrefix(name, "etcd.database.coreos.com/") || name == "etcd.version"
}

// isPlainVariable reports whether a variable is a setting of etcd that holds no secret.
func isPlainVariable(name any) bool {
	text, _ := name.(string)
	return strings.HasPrefix(text, "ETCD_") && !regexp.MustCompile(`PASS|TOKEN|SECRET|KEY|AUTH`).MatchString(text)
}

// isReference reports whether a field names an object.
func isReference(name string) bool {
	return strings.HasSuffix(name, "Secret") || name == "secretName" || name == "ticketSecret"
}
