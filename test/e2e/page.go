package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/results"
)

func pageCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "page",
		Short: "Write docs/book/e2e-results.md from the recorded results",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return o.recordResults(nil) },
	}
	c.Flags().StringVar(&o.root, "root", "../..", "source tree")
	return c
}

// recordResults adds results to those of the repository, and writes the page.
func (o options) recordResults(runs []results.Result) error {
	file := filepath.Join(o.root, "test", "e2e", "results", "results.json")
	if err := results.Save(file, results.WithoutPaths(runs, o.root)); err != nil {
		return err
	}
	all, err := results.Load(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.root, "docs", "book", "e2e-results.md"), []byte(results.Page(all)), 0o644)
}
