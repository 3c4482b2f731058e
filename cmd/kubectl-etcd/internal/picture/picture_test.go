// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package picture_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/picture"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
)

func TestAPictureIsXMLWithAllTheText(t *testing.T) {
	s := screen.Screen{Colour: true}
	svg := picture.SVG("kubectl etcd status <x>", "plain & "+s.Paint(screen.Red, "red <one>")+" rest\n\n  "+s.Paint(screen.Bold, "bold")+"\n")
	var text strings.Builder
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
	for _, want := range []string{"$ kubectl etcd status <x>", "plain & ", "red <one>", "rest", "bold"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in %q", want, text.String())
		}
	}
	if strings.Contains(svg, "%!") {
		t.Error("a number or a colour is missing")
	}
	if strings.Contains(svg, "\x1b") {
		t.Error("an escape sequence is left")
	}
	if !strings.Contains(svg, "text { white-space: pre }") {
		t.Error("browsers draw several spaces as one")
	}
	if !strings.Contains(svg, `fill="#ff6b68"`) || !strings.Contains(svg, `font-weight="bold"`) {
		t.Error("styles are missing")
	}
}
