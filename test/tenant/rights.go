// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/test/rights"
)

// The installations of this process, for the comparison with the audit log.
var (
	installationsMu sync.Mutex
	installations   []rights.Installation
)

// noteInstallation notes what rights the operators of a namespace have from now on.
func (n *Tenant) noteInstallation(flags []string) {
	n.Helper()
	grants, err := rights.CreateRole(n.Context(), append(slices.Clone(flags), "--namespace="+rights.Home)...)
	if err != nil {
		n.Fatal(err)
	}
	installationsMu.Lock()
	defer installationsMu.Unlock()
	installations = append(installations, rights.Installation{Namespace: n.Namespace, Grants: grants, Since: time.Now()})
}

// noteRemoval notes that the operators' rights may go from now on.
func (n *Tenant) noteRemoval() {
	installationsMu.Lock()
	defer installationsMu.Unlock()
	for i := range installations {
		if installations[i].Namespace == n.Namespace && installations[i].Until.IsZero() {
			installations[i].Until = time.Now()
		}
	}
}

// Rights is what a package's tests expect of the rights of the operators that they installed.
type Rights struct {
	// All says that the tests together use every right: one that nobody used is one too many. It counts
	// only where all tests ran.
	All bool
	// Rarely are rights that the tests do not need, each with the reason why the operators do.
	Rarely map[string]string
}

// finding is something that is not as it should be with rights, and all cases of it.
type finding struct {
	what  string
	which []string
}

var errRights = errors.New("the operators' rights are not what they need")

// check compares the audit log with the rights. It is an error if the operators asked for something that they
// may not, or could do something that create_role.sh does not grant.
func (r Rights) check(complete bool, progress io.Writer) error {
	installationsMu.Lock()
	defer installationsMu.Unlock()
	if len(installations) == 0 {
		return nil
	}
	usage := rights.NewUsage(installations...)
	torn, err := rights.ReadLogs(theLab.AuditDir(), usage.Count)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "rights: %d requests of operators in the audit log, %d torn lines\n", usage.Requests(), torn)
	if refused := usage.Refused(); len(refused) > 0 {
		fmt.Fprintf(progress, "rights: %d kinds of requests that are granted were forbidden for a moment, as by an API server that has just started\n", len(refused))
	}
	findings := []finding{
		{"the operators were forbidden what they asked for", usage.Forbidden()},
		{"the operators have rights that create_role.sh does not grant", usage.Foreign()},
	}
	if r.All && complete {
		findings = append(findings,
			finding{"rights that no test needs; take them out of example/rbac, or say in test/e2e/main_test.go why they stay", usage.Unused(r.Rarely)},
			finding{"rights that test/e2e/main_test.go knows and nobody has", usage.Unknown(r.Rarely)})
	}
	failed := false
	for _, f := range findings {
		if len(f.which) == 0 {
			continue
		}
		failed = true
		fmt.Fprintf(progress, "rights: %s:\n", f.what)
		for _, line := range f.which {
			fmt.Fprintf(progress, "    %s\n", line)
		}
	}
	if failed {
		return errRights
	}
	return nil
}

// allTestsRan tells whether nothing on the command line left tests out.
func allTestsRan() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}
