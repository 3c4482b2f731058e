// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/etcd-operator/etcd-operator/test/repository"
)

// Console is a shell that stays while commands are typed one after the other: what one of them sets is
// there for the next. kubectl, and its plugins, work in the namespace.
type Console struct {
	tenant *Tenant
	stdin  io.Writer
	lines  <-chan string
}

// endOfCommand begins the line with the exit code, which no command prints.
const endOfCommand = "\x01end of command "

// StartConsole starts a shell in the root of the repository, with the namespace in $NAMESPACE and more variables.
func (n *Tenant) StartConsole(env ...string) *Console {
	n.Helper()
	kubeconfig := n.ownKubeconfig()
	cmd := exec.CommandContext(n.Context(), "bash", "--noprofile", "--norc")
	cmd.Dir = repository.Root()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "NAMESPACE="+n.Namespace,
		fmt.Sprintf("PATH=%s:%s", filepath.Dir(theLab.KubectlPath()), os.Getenv("PATH")))
	cmd.Env = append(cmd.Env, env...)
	// What the shell has started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stdin, err := cmd.StdinPipe()
	if err != nil {
		n.Fatal(err)
	}
	output, toOutput, err := os.Pipe()
	if err != nil {
		n.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = toOutput, toOutput
	if err := cmd.Start(); err != nil {
		n.Fatal(err)
	}
	_ = toOutput.Close() // the shell has its own
	lines := make(chan string)
	go func() {
		defer close(lines)
		for reader := bufio.NewReader(output); ; {
			line, err := reader.ReadString('\n')
			if line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	n.Cleanup(func() {
		_ = stdin.Close()
		for range lines { // until the shell and all that it has started have ended
			continue
		}
		_ = cmd.Wait() // the code of the last command was looked at
		_ = output.Close()
	})
	c := &Console{tenant: n, stdin: stdin, lines: lines}
	if out, code := c.Run("set -o pipefail", time.Minute); code != 0 {
		n.Fatalf("the shell does not start: %s", out)
	}
	return c
}

// ownKubeconfig is the lab's kubeconfig with the namespace as the one that kubectl works in.
func (n *Tenant) ownKubeconfig() string {
	n.Helper()
	path := filepath.Join(n.TempDir(), "kubeconfig")
	n.must("", "bash", "-euc", `umask 077; kubectl config view --raw >"$0"; kubectl --kubeconfig="$0" config set-context --current --namespace="$1"`, path, n.Namespace)
	return path
}

// Run types a command and returns what it printed, to standard output and standard error, and its exit
// code. One that does not end in time fails the test.
func (c *Console) Run(command string, within time.Duration) (output string, code int) {
	c.tenant.Helper()
	// The end of the command begins a line of its own, also after an output without an end of line.
	if _, err := fmt.Fprintf(c.stdin, "{ %s\n} </dev/null\nprintf '\\n%s%%d\\n' $?\n", command, endOfCommand); err != nil {
		c.tenant.Fatalf("$ %s: %v", command, err)
	}
	late := time.After(within)
	var printed strings.Builder
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.tenant.Fatalf("the shell ended in $ %s\n%s", command, printed.String())
			}
			text, isEnd := strings.CutPrefix(line, endOfCommand)
			if !isEnd {
				printed.WriteString(line)
				continue
			}
			code, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				c.tenant.Fatalf("the exit code of $ %s: %v", command, err)
			}
			return strings.TrimSuffix(printed.String(), "\n"), code
		case <-late:
			c.tenant.Fatalf("after %s there is no end of $ %s\n%s", within, command, printed.String())
		}
	}
}
