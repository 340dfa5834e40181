package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// gateVariable matches a feature gate of a release with its variable: EdgeZone=${EXP_EDGEZONE:=false}.
var gateVariable = regexp.MustCompile(`[=,]([A-Za-z0-9]+)=\$\{([A-Z0-9_]+):=`)

// gateVariables returns the variables of a release that set these feature gates, NAME=true,NAME=false. A gate that the release
// has no variable for cannot be set by those who install it, and so not here.
func gateVariables(components []byte, gates string) (map[string]string, error) {
	variables := map[string]string{}
	var names []string
	for _, match := range gateVariable.FindAllSubmatch(components, -1) {
		if name := string(match[1]); variables[name] == "" {
			variables[name], names = string(match[2]), append(names, name)
		}
	}
	slices.Sort(names)
	out := map[string]string{}
	for gate := range strings.SplitSeq(gates, ",") {
		if gate == "" {
			continue
		}
		name, value, _ := strings.Cut(gate, "=")
		if value != "true" && value != "false" {
			return nil, fmt.Errorf("feature gate %s: want NAME=true or NAME=false, as in %s=true", gate, name)
		}
		if variables[name] == "" {
			return nil, fmt.Errorf("feature gate %s: the release has no variable for a gate %s; it has %s", gate, name, strings.Join(names, ", "))
		}
		out[variables[name]] = value
	}
	return out, nil
}

// CheckReleases refuses settings with which WriteRepository fails: releases that do not exist, and feature gates that they do not have.
func CheckReleases(s *settings.Settings) error {
	for _, m := range s.InstalledManagers() {
		releases, err := releasesOf(s, m)
		if err != nil {
			return err
		}
		if _, err := gatesOf(s, m, releases); err != nil {
			return err
		}
	}
	return nil
}

// gatesOf returns the variables for the feature gates that the manager gets. Gates of users are those of a flag.
func gatesOf(s *settings.Settings, m settings.Manager, releases []release) (map[string]string, error) {
	variables, err := gateVariables(releases[0].components, s.GatesFor(m))
	if err == nil {
		return variables, nil
	}
	if _, ownErr := gateVariables(releases[0].components, m.FeatureGates); ownErr != nil {
		return nil, fmt.Errorf("%s: %w", m.Label, ownErr)
	}
	return nil, fmt.Errorf("--feature-gates=%s: %w. `lab up --feature-gates=` resets them", s.FeatureGates, err)
}
