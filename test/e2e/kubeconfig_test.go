package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestResolveKubeconfig resolves the paths that users give to make in the source tree.
func TestResolveKubeconfig(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "management.kubeconfig")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ reason, path, want, fails string }{
		"none":     {reason: "a cluster of kind is created"},
		"relative": {reason: "make changes the folder", path: "management.kubeconfig", want: file},
		"absolute": {reason: "it is the same in each folder", path: file, want: file},
		"missing":  {reason: "the path is misspelt", path: "managment.kubeconfig", fails: "--kubeconfig: stat " + root + "/managment.kubeconfig"},
		"folder":   {reason: "the name of the file is missing", path: ".", fails: "--kubeconfig: " + root + " is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := resolveKubeconfig(root, tc.path)
			if got != tc.want || (err != nil) != (tc.fails != "") || err != nil && !strings.HasPrefix(err.Error(), tc.fails) {
				t.Errorf("%s: got %q and error %v, want %q and %q", tc.reason, got, err, tc.want, tc.fails)
			}
		})
	}
}

// TestMissingKubeconfig runs each command without a kubeconfig; it expects an end before anything is built or deleted.
func TestMissingKubeconfig(t *testing.T) {
	for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"} {
		t.Setenv(name, "a")
	}
	const subscription = "20000000-0000-4000-8000-000000000001"
	for name, tc := range map[string]struct {
		command *cobra.Command
		args    []string
	}{
		"run":   {runCommand(), []string{"--cloud", "azure"}},
		"check": {checkCommand(), []string{"--cloud", "azure"}},
		"sweep": {sweepCommand(), []string{"--run", "capz-e2e-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.command.SilenceUsage, tc.command.SilenceErrors = true, true
			tc.command.SetOut(io.Discard)
			tc.command.SetArgs(append(tc.args, "--root", t.TempDir(), "--subscription", subscription, "--kubeconfig", "none.kubeconfig"))
			if err := tc.command.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "--kubeconfig: stat ") {
				t.Errorf("error %v, want that the file of --kubeconfig is missing", err)
			}
		})
	}
}
