// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package storemodel

import (
	"encoding/xml"
	"maps"
	"slices"
)

// The documents that requests and answers hold.

type begun struct {
	XMLName     xml.Name `xml:"InitiateMultipartUploadResult"`
	Bucket, Key string
	UploadID    string `xml:"UploadId"`
}

type completed struct {
	XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
	Bucket, Key, ETag string
}

type wantedPart struct {
	Number int `xml:"PartNumber"`
	ETag   string
}

func readParts(body []byte) ([]wantedPart, bool) {
	var document struct {
		XMLName xml.Name     `xml:"CompleteMultipartUpload"`
		Parts   []wantedPart `xml:"Part"`
	}
	err := xml.Unmarshal(body, &document)
	return document.Parts, err == nil
}

type objectList struct {
	XMLName                                           xml.Name `xml:"ListBucketResult"`
	Name, Prefix, NextContinuationToken, EncodingType string
	KeyCount, MaxKeys                                 int
	IsTruncated                                       bool
	Contents                                          []listedObject
	// last is the last key of the page.
	last string
}

type listedObject struct {
	Key, LastModified, ETag string
	Size                    int
}

type uploadList struct {
	XMLName                                                xml.Name `xml:"ListMultipartUploadsResult"`
	Bucket, Prefix, KeyMarker, NextKeyMarker, EncodingType string
	UploadIDMarker                                         string `xml:"UploadIdMarker"`
	NextUploadIDMarker                                     string `xml:"NextUploadIdMarker"`
	MaxUploads                                             int
	IsTruncated                                            bool
	Uploads                                                []listedUpload `xml:"Upload"`
}

type listedUpload struct {
	Key       string
	UploadID  string `xml:"UploadId"`
	Initiated string
}

type tagging struct {
	XMLName xml.Name `xml:"Tagging"`
	Tags    []tag    `xml:"TagSet>Tag"`
}

type tag struct{ Key, Value string }

func taggingOf(tags map[string]string) tagging {
	var t tagging
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		t.Tags = append(t.Tags, tag{key, tags[key]})
	}
	return t
}

func readTagging(body []byte) (map[string]string, bool) {
	var t tagging
	if err := xml.Unmarshal(body, &t); err != nil {
		return nil, false
	}
	tags := map[string]string{}
	for _, entry := range t.Tags {
		tags[entry.Key] = entry.Value
	}
	return tags, true
}
