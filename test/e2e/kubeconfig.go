package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// resolveKubeconfig returns the absolute path of the file of --kubeconfig, or "" without the flag. The commands run in a folder below the
// source tree, and users write paths as in the source tree, from which they run make.
func resolveKubeconfig(root, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", file)
	}
	if err != nil {
		return "", fmt.Errorf("--kubeconfig: %w. Name a file, with a path that is absolute or begins at %s", err, root)
	}
	return filepath.Abs(file)
}
