// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "testing"

// As the original reads them: in any case, and by the names of Azure's command line too.
func TestNamesOfAzuresClouds(t *testing.T) {
	for cloud, want := range map[string]string{
		"": "blob.core.windows.net", "AzurePublicCloud": "blob.core.windows.net", "AZUREPUBLICCLOUD": "blob.core.windows.net", "azurecloud": "blob.core.windows.net",
		"azurechinacloud": "blob.core.chinacloudapi.cn", "AzureUSGovernment": "blob.core.usgovcloudapi.net", "azureUSgovernmentCloud": "blob.core.usgovcloudapi.net",
		"AzureGermanCloud": "blob.core.cloudapi.de", "Azure": "",
	} {
		if host, known := absHost(cloud); host != want || known != (want != "") {
			t.Errorf("%q: %s, want %s", cloud, host, want)
		}
	}
}
