// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// s3DefaultRegion is what requests are signed for where nobody names a region: compatible services accept any as
// long as the signature names the same one.
const s3DefaultRegion = "us-east-1"

// s3Region is the region to sign requests for. Empty means that the library finds it out, in the name of one of
// Amazon's endpoints or by asking for the bucket's.
func s3Region(endpoint *url.URL, configured string) string {
	switch {
	case configured != "":
		return configured
	case strings.HasPrefix(endpoint.Hostname(), "s3-accelerate."):
		return s3DefaultRegion // the library takes accelerate for a region
	case s3utils.IsAmazonEndpoint(*endpoint), s3utils.GetRegionFromURL(*endpoint) != "":
		return ""
	}
	return s3DefaultRegion
}
