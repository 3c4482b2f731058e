// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Demo is the second part of make demo: what can happen to the etcd cluster that the first part has made happens to it,
// while a client writes. Every command is shown, and the end is a table.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	lab := flag.String("lab", "_out/bin/lab", "the lab's program")
	nodes := flag.Int("nodes", 3, "how many nodes the lab has")
	record := flag.String("record", "", "draw what is shown as a moving picture (SVG) into this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t := &terminal{out: os.Stdout}
	err := tell(ctx, t, *lab, *nodes)
	if err == nil && *record != "" {
		err = t.recorded.save(*record)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo stopped: %v\n\n%s\n", err, whereToLook)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

const whereToLook = `The lab is still up. Look at:

  export KUBECONFIG=$(make -s lab-kubeconfig)
  kubectl describe etcd example-etcd-cluster   # what the operator is doing, and what it waits for
  kubectl get events --sort-by=.lastTimestamp
  kubectl logs deployment/etcd-operator
  make lab-status

make demo begins again; make demo-down ends the lab.`
