// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package process finds processes of the lab. Its nodes are processes of this machine, and so is all that runs on them.
package process

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Find finds a process by its program and what else is known of it: its folder in /proc, and its arguments.
func Find(program string, is func(folder string, arguments [][]byte) bool) (pid int, found bool) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, false
	}
	for _, folder := range folders {
		command, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err != nil {
			continue // it has ended
		}
		words := bytes.Split(command, []byte{0})
		if filepath.Base(string(words[0])) == program && is(folder, words[1:]) {
			pid, err = strconv.Atoi(filepath.Base(folder))
			return pid, err == nil
		}
	}
	return 0, false
}

// Etcd finds an etcd by its name.
func Etcd(name string) (pid int, found bool) {
	return Find("etcd", func(_ string, arguments [][]byte) bool {
		return slices.ContainsFunc(arguments, func(a []byte) bool { return string(a) == "--name="+name })
	})
}

// Operator finds an etcd-operator by the name of its pod, which it has in its environment.
func Operator(pod string) (pid int, found bool) {
	return Find("etcd-operator", func(folder string, _ [][]byte) bool {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		return err == nil && bytes.Contains(environment, []byte("MY_POD_NAME="+pod+"\x00"))
	})
}

var podUID = regexp.MustCompile(`/pod([0-9a-f-]{36})/`)

// OfPods has the first process of each pod that runs, by the pod's UID. All processes of a pod share its network.
func OfPods() map[string]int {
	all := map[string]int{}
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil
	}
	for _, file := range groups {
		group, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if uid := podUID.FindSubmatch(group); uid != nil {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if first, found := all[string(uid[1])]; err == nil && (!found || pid < first) {
				all[string(uid[1])] = pid
			}
		}
	}
	return all
}
