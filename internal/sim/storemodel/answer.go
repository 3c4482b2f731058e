// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package storemodel

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
)

// answer is what the service says.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// fault is an error of the service: its status and its code.
type fault struct {
	status int
	code   string
}

// The errors of the service.
var (
	noSuchBucket     = fault{http.StatusNotFound, "NoSuchBucket"}
	noSuchKey        = fault{http.StatusNotFound, "NoSuchKey"}
	noSuchUpload     = fault{http.StatusNotFound, "NoSuchUpload"}
	invalidPart      = fault{http.StatusBadRequest, "InvalidPart"}
	invalidPartOrder = fault{http.StatusBadRequest, "InvalidPartOrder"}
	tooSmall         = fault{http.StatusBadRequest, "EntityTooSmall"}
	malformedXML     = fault{http.StatusBadRequest, "MalformedXML"}
	badSum           = fault{http.StatusBadRequest, "XAmzContentSHA256Mismatch"}
	unknownKey       = fault{http.StatusForbidden, "InvalidAccessKeyId"}
	skewed           = fault{http.StatusForbidden, "RequestTimeTooSkewed"}
	full             = fault{http.StatusInsufficientStorage, "XMinioStorageFull"}
	notImplemented   = fault{http.StatusNotImplemented, "NotImplemented"}
)

func (f fault) answer() answer {
	body := fmt.Sprintf("<Error><Code>%s</Code><Message>%s</Message></Error>", f.code, f.code)
	return answer{status: f.status, header: http.Header{"Content-Type": {"application/xml"}}, body: []byte(body)}
}

// xmlAnswer is an answer with a document in it.
func xmlAnswer(document any) answer {
	body, err := xml.Marshal(document)
	if err != nil {
		panic(err)
	}
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}}, body: body}
}

// response is the answer as HTTP has it.
func (a answer) response(r *http.Request) *http.Response {
	header, body := a.header, a.body
	if header == nil {
		header = http.Header{}
	}
	length := int64(len(body))
	if r.Method == http.MethodHead {
		body = nil
	}
	if header.Get("Content-Length") == "" {
		header.Set("Content-Length", fmt.Sprint(length))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length, Request: r,
	}
}
