// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

// compile builds the programs of a recipe into the folder target.
func (w *workshop) compile(ctx context.Context, r recipes.Recipe, key, target string) (err error) {
	module, err := writeModule(w.temporary, r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o750); err != nil {
		return err
	}
	packages := make([]string, 0, len(r.Programs))
	for _, p := range r.Programs {
		packages = append(packages, p.Package)
	}
	log, err := w.openLog(key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()

	total, err := w.countPackages(ctx, log, module, packages)
	if err != nil {
		return err
	}
	// -v names each package when it has been compiled, which tells how far the build is.
	args := append([]string{"build", "-v", "-o", target + "/"}, r.BuildFlags()...)
	var compiled atomic.Int64
	stop := w.every(reportInterval, func() {
		// Linking says nothing about itself, and with a warm cache it is all there is to do.
		w.report.line("after %s: %d packages compiled (of at most %d, fewer with a warm Go build cache), then programs are linked",
			w.report.elapsed(), compiled.Load(), total)
	})
	defer stop()
	err = run(ctx, log, goCommand(ctx, module, append(args, packages...)...), func(line string) {
		if isPackage(line) {
			compiled.Add(1)
		}
	})
	if err != nil {
		return err
	}
	for _, p := range r.Programs {
		if built := builtName(r, p); built != p.Name {
			if err := os.Rename(filepath.Join(target, built), filepath.Join(target, p.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeModule writes the module of a recipe to a new folder.
func writeModule(parent string, r recipes.Recipe) (string, error) {
	files, err := r.Files()
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(parent, "module-")
	if err != nil {
		return "", err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// countPackages tells how many packages the programs consist of, fetching their modules as a side effect.
func (w *workshop) countPackages(ctx context.Context, log *os.File, module string, packages []string) (int, error) {
	var fetched atomic.Int64
	stop := w.every(reportInterval, func() {
		w.report.line("after %s: %d modules fetched", w.report.elapsed(), fetched.Load())
	})
	defer stop()
	cmd := goCommand(ctx, module, append([]string{"list", "-mod=readonly", "-deps"}, packages...)...)
	var list bytes.Buffer
	cmd.Stdout = &list
	err := run(ctx, log, cmd, func(line string) {
		if strings.HasPrefix(line, "go: downloading ") {
			fetched.Add(1)
		}
	})
	return bytes.Count(list.Bytes(), []byte("\n")), err
}

// every calls f at an interval until the returned function is called.
func (w *workshop) every(interval time.Duration, f func()) (stop func()) {
	ticker, done, ended := time.NewTicker(interval), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// openLog opens the file that keeps the whole output of a step.
func (w *workshop) openLog(name string) (*os.File, error) {
	folder := filepath.Join(w.cache, "logs")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(folder, filepath.Base(name)+".log"))
}

// goCommand is a go command with the settings that every build shares. What a user has set for their own work is overridden where it
// would change the result; the proxy, the caches and the like are theirs.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "GO111MODULE=on", "GOOS=linux", "GOARCH="+runtime.GOARCH,
		"GOEXPERIMENT=", "GODEBUG=")
	return cmd
}

// run runs a command made with ctx to its end. Its standard error (and its output, unless cmd takes it) is kept in log, and passed to line by
// line. If it fails the error holds the last lines and the place of the rest.
func run(ctx context.Context, log *os.File, cmd *exec.Cmd, line func(string)) error {
	reader, writer := io.Pipe()
	cmd.Stderr = writer
	if cmd.Stdout == nil {
		cmd.Stdout = writer
	}
	var last tail
	read := make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(reader)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			fmt.Fprintln(log, scanner.Text())
			last.add(scanner.Text())
			if line != nil {
				line(scanner.Text())
			}
		}
		// Whatever could not be scanned must still be taken, or the command would wait forever.
		_, err := io.Copy(io.Discard, reader)
		read <- errors.Join(scanner.Err(), err)
	}()
	fmt.Fprintln(log, "+", strings.Join(cmd.Args, " "))
	err := runGroup(cmd)
	readErr := errors.Join(writer.Close(), <-read)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s failed (%w); the whole output is in %s, its end is:\n%s",
			filepath.Base(cmd.Path), err, log.Name(), last.String())
	}
	return readErr
}

// tail keeps the last lines of an output.
type tail struct{ lines []string }

func (t *tail) add(line string) {
	const keep = 20
	t.lines = append(t.lines, line)
	if len(t.lines) > keep {
		t.lines = t.lines[1:]
	}
}

func (t *tail) String() string { return strings.Join(t.lines, "\n") }

// importPath matches the lines in which go build -v names a package.
var importPath = regexp.MustCompile(`^[A-Za-z0-9][^\s:]*$`)

func isPackage(line string) bool { return importPath.MatchString(line) }

// builtName is the name that go build gives to a program: the last part of its path which is not a version.
func builtName(r recipes.Recipe, p recipes.Program) string {
	pkg := p.Package
	if pkg == "." {
		pkg = "lab/" + r.Folder
	}
	if base := path.Base(pkg); regexp.MustCompile(`^v[0-9]+$`).MatchString(base) {
		pkg = path.Dir(pkg)
	}
	return path.Base(pkg)
}

func programNames(r recipes.Recipe) string {
	names := make([]string, 0, len(r.Programs))
	for _, p := range r.Programs {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
