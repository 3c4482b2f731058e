// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

func addOutputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "json or yaml, for programs")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
}

func checkOutput(output string) error {
	switch output {
	case "", "json", "yaml":
		return nil
	}
	return fmt.Errorf("--output must be json or yaml, not %q", output)
}

// printAs writes a value in the form that was asked for.
func printAs(w io.Writer, output string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if output == "yaml" {
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
