// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the older signature is made of it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ossCheckSignature checks the signature of a request from the documentation's description of it, and
// says which of the two versions it is.
func ossCheckSignature(r *http.Request, bucket, key string) (version string, err error) {
	authorization := r.Header.Get("Authorization")
	if rest, ok := strings.CutPrefix(authorization, "OSS4-HMAC-SHA256 "); ok {
		return "V4", ossCheckV4(r, rest, bucket, key)
	}
	if rest, ok := strings.CutPrefix(authorization, "OSS "); ok {
		return "V1", ossCheckV1(r, rest, bucket, key)
	}
	return "", errors.New("the request is not signed")
}

// ossSigned are the parameters that belong to the resource in the older signature.
var ossSigned = []string{"continuation-token", "partNumber", "tagging", "uploadId", "uploads"}

func ossCheckV1(r *http.Request, authorization, bucket, key string) error {
	id, signature, _ := strings.Cut(authorization, ":")
	if id != ossID {
		return errors.New("the access key is not known")
	}
	if err := ossCheckDate(r.Header.Get("Date"), http.TimeFormat); err != nil {
		return err
	}
	resource := "/"
	if bucket != "" {
		resource += bucket + "/" + key
	}
	var parameters []string
	for _, name := range ossSigned {
		if values, ok := r.URL.Query()[name]; ok {
			if values[0] != "" {
				name += "=" + values[0]
			}
			parameters = append(parameters, name)
		}
	}
	if len(parameters) > 0 {
		resource += "?" + strings.Join(parameters, "&")
	}
	text := strings.Join([]string{
		r.Method, r.Header.Get("Content-MD5"), r.Header.Get("Content-Type"), r.Header.Get("Date"),
		ossHeaders(r, nil, false) + resource,
	}, "\n")
	h := hmac.New(sha1.New, []byte(ossSecret))
	h.Write([]byte(text))
	if base64.StdEncoding.EncodeToString(h.Sum(nil)) != signature {
		return errors.New("the signature is another")
	}
	return nil
}

func ossCheckV4(r *http.Request, authorization, bucket, key string) error {
	fields := map[string]string{}
	for _, field := range strings.Split(authorization, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.SplitN(fields["Credential"], "/", 2)
	if len(scope) != 2 || scope[0] != ossID {
		return errors.New("the access key is not known")
	}
	parts := strings.Split(scope[1], "/") // date/region/oss/aliyun_v4_request
	if len(parts) != 4 || parts[2] != "oss" || parts[3] != "aliyun_v4_request" {
		return fmt.Errorf("the scope %s is not one", scope[1])
	}
	date := r.Header.Get("x-oss-date")
	if err := ossCheckDate(date, "20060102T150405Z"); err != nil {
		return err
	}
	var additional []string
	if fields["AdditionalHeaders"] != "" {
		additional = strings.Split(fields["AdditionalHeaders"], ";")
	}
	path := "/"
	if bucket != "" {
		path += bucket + "/" + key
	}
	canonical := strings.Join([]string{
		r.Method, ossEncode(path, true), ossQuery(r.URL.Query()), ossHeaders(r, additional, true), strings.Join(additional, ";"),
		r.Header.Get("x-oss-content-sha256"),
	}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"OSS4-HMAC-SHA256", date, scope[1], hex.EncodeToString(sum[:])}, "\n")
	signing := []byte("aliyun_v4" + ossSecret)
	for _, part := range append(parts, text) {
		h := hmac.New(sha256.New, signing)
		h.Write([]byte(part))
		signing = h.Sum(nil)
	}
	if hex.EncodeToString(signing) != fields["Signature"] {
		return errors.New("the signature is another")
	}
	return nil
}

func ossCheckDate(text, layout string) error {
	at, err := time.Parse(layout, text)
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		return fmt.Errorf("the date %q is not now", text)
	}
	return nil
}

// ossHeaders are the signed headers, one a line.
func ossHeaders(r *http.Request, additional []string, v4 bool) string {
	var lines []string
	for name, values := range r.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-oss-") || slices.Contains(additional, name) || (v4 && (name == "content-type" || name == "content-md5")) {
			lines = append(lines, name+":"+strings.TrimSpace(values[0])+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func ossQuery(q url.Values) string {
	var pairs []string
	for name, values := range q {
		pair := ossEncode(name, false)
		if values[0] != "" {
			pair += "=" + ossEncode(values[0], false)
		}
		pairs = append(pairs, pair)
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// ossEncode is percent encoding of everything but letters, digits and -_.~, and slashes where kept.
func ossEncode(text string, keepSlash bool) string {
	encoded := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	encoded = strings.ReplaceAll(encoded, "%7E", "~")
	if keepSlash {
		encoded = strings.ReplaceAll(encoded, "%2F", "/")
	}
	return encoded
}
