// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// s3DefaultRegion is what requests are signed for where nobody names a region: compatible services accept any as
// long as the signature names the same one.
const s3DefaultRegion = "us-east-1"

// s3DefaultEndpoint is Amazon's own.
const s3DefaultEndpoint = "https://s3.amazonaws.com"

// service is where the objects are.
func (s awsSettings) service(c Config) string {
	switch {
	case c.Endpoint != "":
		return c.Endpoint
	case s.endpoint != "":
		return s.endpoint
	case s.needsPod():
		return podEndpoint()
	}
	return s3DefaultEndpoint
}

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

// resolver gives the addresses of a host.
type resolver func(ctx context.Context, host string) ([]string, error)

// isPublicName reports whether a host has a name of its own in the DNS: it is no address, not this machine, and no
// Service of Kubernetes. Those have no names for buckets, and the short ones, such as minio.storage, may be
// somebody else's elsewhere.
func isPublicName(host string) bool {
	labels := strings.Split(host, ".")
	return len(labels) >= 3 && net.ParseIP(host) == nil && labels[len(labels)-1] != "localhost" && !slices.Contains(labels, "svc")
}

// resolvePatience is how long names are looked for before a bucket is put into the path.
const resolvePatience = 3 * time.Second

// bucketLabel is a bucket that can be a part of a host's name, also in a certificate.
var bucketLabel = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// bucketInHost reports whether the bucket belongs into the host's name rather than into the path.
//
// The original always put it there unless it was configured otherwise, and there are services that take nothing else. But
// many services take the path only, and nobody had to say so here. So it goes there where the name is known, and
// is not known merely because every name is: a wildcard for all that is beside the endpoint, as for what an
// ingress serves, says nothing about buckets.
func bucketInHost(ctx context.Context, endpoint *url.URL, bucket string, resolve resolver) bool {
	if s3utils.IsVirtualHostSupported(*endpoint, bucket) {
		return true // one of the services that the library knows
	}
	host := strings.TrimSuffix(endpoint.Hostname(), ".")
	if !isPublicName(host) || !bucketLabel.MatchString(bucket) {
		return false
	}
	_, parent, _ := strings.Cut(host, ".")
	ctx, cancel := context.WithTimeout(ctx, resolvePatience)
	defer cancel()
	// A dot at the end: the domains that a pod's resolver tries in turn are not the service's.
	known := func(name string) bool {
		addresses, err := resolve(ctx, name+".")
		return err == nil && len(addresses) > 0
	}
	return known(bucket+"."+host) && !known(strings.ToLower(rand.Text())+"."+parent) && ctx.Err() == nil
}
