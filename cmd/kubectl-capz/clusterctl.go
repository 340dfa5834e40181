package main

import (
	"cmp"
	"os"
	"path/filepath"
)

// clusterctlFolders returns the folders in which clusterctl looks for its configuration:
// https://cluster-api.sigs.k8s.io/clusterctl/configuration. On Windows it uses LOCALAPPDATA, not APPDATA as Go does.
func clusterctlFolders() []string {
	settings, _ := os.UserConfigDir()
	var out []string
	if settings = cmp.Or(os.Getenv("XDG_CONFIG_HOME"), os.Getenv("LOCALAPPDATA"), settings); settings != "" {
		out = append(out, filepath.Join(settings, "cluster-api"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, filepath.Join(home, ".cluster-api"))
	}
	return out
}
