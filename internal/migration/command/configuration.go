package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// configuration is the configuration of clusterctl, with variables in lower case: clusterctl does not distinguish cases.
type configuration map[string]any

// readConfiguration reads the file that clusterctl will read. The result is empty if there is none.
func (f *clusterctlFlags) readConfiguration(e *environment.Environment) (configuration, error) {
	if strings.HasPrefix(f.config, "https://") || strings.HasPrefix(f.config, "http://") {
		return nil, fmt.Errorf("--clusterctl-config=%s: the variables of a URL are not known. Download it, and set the flag to the file", f.config)
	}
	if e.OpenFile == nil {
		return nil, nil
	}
	if f.config != "" {
		return decodeConfiguration(e, f.config)
	}
	for _, folder := range e.ClusterctlFolders {
		for _, extension := range []string{"json", "yaml", "yml"} {
			found, err := decodeConfiguration(e, filepath.Join(folder, "clusterctl."+extension))
			if !errors.Is(err, fs.ErrNotExist) {
				return found, err
			}
		}
	}
	return nil, nil
}

func decodeConfiguration(e *environment.Environment, name string) (configuration, error) {
	file, err := e.OpenFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of clusterctl: %w", err)
	}
	raw, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read the configuration of clusterctl: %w", err)
	}
	values, err := userinput.DecodeObject(raw)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of clusterctl in %s: %w", name, err)
	}
	out := configuration{}
	for key, value := range values {
		out[strings.ToLower(key)] = value
	}
	return out, nil
}

// missing returns the variables without a value in the configuration, as NAME=value. clusterctl prefers its environment, so a variable
// there would replace the user's value.
func (c configuration) missing(variables map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if c[strings.ToLower(name)] == nil {
			out = append(out, name+"="+variables[name])
		}
	}
	return out
}
