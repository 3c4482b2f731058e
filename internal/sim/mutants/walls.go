// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/etcd-operator/etcd-operator/internal/sim/mutants/mutate"
)

// check is a test that has to notice a mutant, in place of the simulation, in which nobody is hostile.
type check struct {
	// module is a folder of this repository, and in a package of it.
	module, in string
	// test is what -run selects.
	test string
}

// wall is the mutant that takes away a wall between tenants, or between a tenant and the operator.
func wall(m mutant, in, test string) mutant {
	m.noticedBy = &check{module: ".", in: "./internal/" + in, test: test}
	return m
}

// wallOf is a wall that is shown by the operators as processes.
func wallOf(m mutant, in, test string) mutant {
	m.noticedBy = &check{module: "test", in: "./" + in, test: test}
	return m
}

// Where the walls are.
const (
	outsides     = "outside"
	etcds        = "etcd"
	storeKinds   = "store/kind"
	serviceNames = "servicename"
	jobs         = "job"
	stalls       = "stall"
	verification = "verify"

	hostileTenant = "TestAHostileTenantGetsNothing"
	podIdentities = "TestThePodsIdentityIsForWhatAnAdministratorNamed"
)

// walls are taken away one at a time; docs/tenants.md lists them.
var walls = []mutant{
	// Where objects lead.
	wall(at("objects lead to the operator's machine and to metadata", outsides, "Addresses.Check", `if "prefix".cond`, mutate.IsFalse), outsides, "TestWhatLeadsIntoTheClusterIsRefused"),
	wall(at("objects lead to the API server", outsides, "Addresses.Check", `if "server".cond`, mutate.IsFalse), outsides, "TestWhatLeadsIntoTheClusterIsRefused"),
	wall(at("a name leads to what an address may not", outsides, "Addresses.Dialer", "func.return[1].result", mutate.By("func() error { _ = $; return nil }()")), outsides, "TestTheDialledAddressCounts"),
	wall(at("a name of one label is one of the operator's namespace", serviceNames, "Within", "if[0].cond", mutate.By("$ || labels == 1")), serviceNames, "TestShortNamesAreThoseOfTheNamespace"),
	wall(at("names in a secret are those of the operator's namespace", stores, "located", `call "Within".arg[2]`, mutate.By(`""`)), stores, "TestNamesInSecretsAreOfTheNamespace"),
	wall(at("redirects are followed", stores, "link.RoundTrip", `statement "Del"`, mutate.Remove), stores, "TestRedirectsAreNotFollowed"),
	wallOf(at("an etcd names members anywhere", etcds, "newSource", `literal "network"`, mutate.By(`network{outside.Allowing("0.0.0.0/0")}`)), "backup", hostileTenant+"/etcd-that-names-others"),

	// The operator's own identity.
	wall(at("the pod's identity is for everybody", stores, "mayUsePod", `if "Permits".cond`, mutate.IsFalse), stores, podIdentities),
	wallOf(at("the pod's identity is for roles and tokens of a tenant", stores, "mayUsePod", `if "Permits".cond`, mutate.IsFalse), "backup", hostileTenant+"/identity-"),
	wall(at("the pod's identity goes to an endpoint that an object chose", stores, "mayUsePod", `if "is".cond`, mutate.IsFalse), stores, podIdentities),
	wall(at("a folder of the pod's identity includes its neighbours", storeKinds, "PodIdentity.Permits", `call "HasPrefix".arg[1]`, mutate.By("${left}")), stores, podIdentities),
	wall(at("a region is any text", storeKinds, "IsRegion", "return.result", mutate.IsTrue), stores, podIdentities),

	// What comes out of a store.
	wall(at("another object than the pinned one is restored", snapshots, "Opened.Read", "if.cond", mutate.IsFalse), snapshots, "TestAPlainObjectIsRefusedWhereKeysAreNamed"),
	wall(at("another compressed object than the pinned one is restored", snapshots, "storedBytes.Read", `case "want".cond`, mutate.IsFalse), snapshots, "TestAPlainObjectIsRefusedWhereKeysAreNamed"),
	wallOf(at("spec.sha256 is not looked at", restoreServe, "Backups.Open", `call "Open".arg[4]`, mutate.By(`""`)), "restore", "TestObjectsThatAreNoWholeSnapshotAreRefused"),
	wall(at("a recovery is not pinned to what the status recorded", plan, "recoveryRestore", `literal "RestoreSpec".field "SHA256"`, mutate.By(`""`)), plan, "TestARecoveryFromABackupTellsItsAgeAndTakesTheNewest"),
	wall(at("a plain object takes the place of an encrypted one", snapshots, "Open", `if "identities".cond`, mutate.IsFalse), snapshots, "TestAPlainObjectIsRefusedWhereKeysAreNamed"),
	wall(at("images and environment come from the store", snapshots, "Facts.KeptSpec", `assign "kept"[0].value`, mutate.By("spec")), snapshots, "TestNothingThatRunsCodeIsTakenFromABackup"),
	wall(at("what servers say is shown as it is", outsides, "Cut", `if "most".cond`, mutate.IsFalse), outsides, "TestTextsFromOutsideAreCutAndCleaned"),

	wall(at("a hostile member's errors are shown as they are", etcds, "quoted.Error", "return.result", mutate.By("q.error.Error()")), etcds, "TestWhatAHostileMemberAnswersIsCutAndBounded"),

	// Bounds.
	wallOf(at("an etcd sends messages of any size", etcds, "network.dial", `call "MaxCallRecvMsgSize".arg`, mutate.By("1 << 30")), "backup", hostileTenant+"/etcd-of-huge-messages"),
	wall(at("an answer of a store has any size", stores, "link.RoundTrip", `if "streamedKey".cond`, mutate.IsFalse), stores, "TestAnswersAreBounded"),
	wall(at("an object names any number of endpoints", backupPlan, "check", `if "maxEndpoints".cond`, mutate.IsFalse), backupPlan, "TestNoMoreThanABackupAMinuteAndThirtyTwoEndpoints"),
	wall(at("a backup is made every second", backupPlan, "parseSchedule", `if "Delay".cond`, mutate.IsFalse), backupPlan, "TestNoMoreThanABackupAMinuteAndThirtyTwoEndpoints"),
	wall(at("one namespace takes all slots", jobs, "Slots.take", "if.cond.operand[1]", mutate.IsFalse), jobs, "TestANamespaceThatIsSlowHoldsUpNobodyElse"),
	wall(at("a backup of any size is unpacked", verification, "save", `if "n".cond`, mutate.IsFalse), verification, "TestADatabaseThatIsTooLargeIsNotUnpacked"),
	wall(at("more is unpacked than was written", backupAct, "sized.Read", `if "known".cond`, mutate.IsFalse), backupAct, "TestNoMoreIsUnpackedThanWasWritten"),
	wall(at("a peer may trickle", stalls, "Pace.Keeps", `return "kept".result`, mutate.IsTrue), stalls, "TestAPeerThatTricklesIsGivenUp"),
	wall(at("a store may take a little at a time", stores, "steadyConn.Write", `if "keepsPace".cond`, mutate.IsFalse), stores, "TestASlowReaderIsGivenUp"),
	wall(at("a store may send a little at a time when a backup is read back", backupAct, "writing.readBack", `call "SteadyReader"`, mutate.By("${arg}")), backupAct, "TestAStoreThatTricklesIsGivenUpWhenABackupIsReadBack"),
}

// try runs the test that has to notice a mutant, and returns what it printed; nothing if it passed.
func (h hunter) try(ctx context.Context, m *mutate.Mutation, c *check) (string, error) {
	defer func() { _ = os.RemoveAll(h.folder) }()
	overlay, err := h.overlay(m)
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	test := exec.CommandContext(limited, "go", "test", "-count=1", "-vet=off", "-overlay", overlay, "-run", "^"+strings.ReplaceAll(c.test, "/", "$/^"), c.in)
	test.Dir = c.module
	// The operators that a test builds have the fault too, and are kept apart from those of other tests.
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + overlay)
	test.Env = append(os.Environ(), "GOFLAGS="+flags, "TEST_PROGRAMS="+filepath.Join(h.folder, "bin"))
	out, err := test.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil && strings.Contains(string(out), "no tests to run"):
		return "", fmt.Errorf("there is no test %s in %s", c.test, c.in)
	case err == nil:
		return "", nil
	case !errors.As(err, &failed), strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return "", fmt.Errorf("%s cannot be run: %w\n%s", c.test, err, out)
	}
	return c.test + ": " + firstFailure(string(out)), nil
}
