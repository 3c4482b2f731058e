// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Request is what a user asked an API server for.
type Request struct {
	Time time.Time
	User string
	Verb string
	// Group is the API group; Resource has a subresource after a slash.
	Group, Resource string
	// Namespace is empty for objects outside of namespaces, and for those of all namespaces.
	Namespace, Name string
	// Allowed is whether the user has the right. What admission refuses later was allowed here.
	Allowed bool
}

// String is the request as a person would say it.
func (r Request) String() string {
	text := Right{r.Group, r.Resource, "", r.Verb}.String()
	switch {
	case r.Namespace != "" && r.Name != "":
		return text + " " + r.Namespace + "/" + r.Name
	case r.Namespace != "":
		return text + " in " + r.Namespace
	case r.Name != "":
		return text + " " + r.Name
	}
	return text
}

// event is what we need of an event of the audit log (audit.k8s.io/v1).
type event struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ImpersonatedUser *struct {
		Username string `json:"username"`
	} `json:"impersonatedUser"`
	ObjectRef *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Received    time.Time         `json:"requestReceivedTimestamp"`
	Annotations map[string]string `json:"annotations"`
}

// The annotation by which the authorizer says what it decided.
const (
	decisionAnnotation = "authorization.k8s.io/decision"
	decisionForbid     = "forbid"
)

func (e event) request() (Request, bool) {
	decision, decided := e.Annotations[decisionAnnotation]
	if e.ObjectRef == nil || !decided {
		return Request{}, false // discovery, health; or it never came to the authorizer
	}
	r := Request{
		Time: e.Received, User: e.User.Username, Verb: e.Verb, Allowed: decision != decisionForbid,
		Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
	}
	if e.ImpersonatedUser != nil {
		r.User = e.ImpersonatedUser.Username
	}
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	if r.Verb == "create" && e.ObjectRef.Subresource == "" {
		r.Name = "" // the log has it from the object, the authorizer has not
	}
	return r, true
}

// ReadLog calls each for every request in an audit log. A line that a crash of the API server cut off is left
// out; torn is how many there were.
func ReadLog(log io.Reader, each func(Request)) (torn int, err error) {
	const longest = 4 << 20
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			torn++
			continue
		}
		if r, ok := e.request(); ok {
			each(r)
		}
	}
	if err := lines.Err(); err != nil {
		return torn, fmt.Errorf("reading the audit log: %w", err)
	}
	return torn, nil
}

// ReadLogs is ReadLog for an API server's log and those that it has put aside when they were large.
func ReadLogs(dir string, each func(Request)) (torn int, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return 0, fmt.Errorf("looking for audit logs: %w", err)
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("there is no audit log in %s: the lab was brought up by an older program; take it down with `lab down`", dir)
	}
	for _, file := range files {
		more, err := readFile(file, each)
		torn += more
		if err != nil {
			return torn, err
		}
	}
	return torn, nil
}

func readFile(path string, each func(Request)) (torn int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("opening an audit log: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return ReadLog(file, each)
}
