package aks

import (
	"strings"

	"github.com/blang/semver/v4"
)

// withV returns a version in the format of Kubernetes objects, withoutV in that of Azure. "" stays "".
func withV(version string) string {
	if version == "" || strings.HasPrefix(version, "v") {
		return version
	}
	return "v" + version
}

func withoutV(version string) string { return strings.TrimPrefix(version, "v") }

// HighestVersion returns the highest of the versions, without the v. Versions that cannot be parsed are the lowest, "" among them.
// Of equal versions it returns the first.
func HighestVersion(versions ...string) string {
	out := ""
	for _, version := range versions {
		if out == "" || isLowerVersion(out, version) {
			out = withoutV(version)
		}
	}
	return out
}

// isLowerVersion reports whether version a is lower than b. A version that cannot be parsed is lower than any other.
func isLowerVersion(a, b string) bool {
	x, errX := semver.ParseTolerant(a)
	y, errY := semver.ParseTolerant(b)
	if errX != nil || errY != nil {
		return errX != nil && errY == nil
	}
	return x.LT(y)
}

// KeepVersionAlias returns the version to send. If the request in Azure was an alias like "1.33", and the wanted version is the
// running one, it returns the alias: AKS keeps the minor version as requested and runs its newest patch. requested and running are
// the versions that Azure shows.
// https://learn.microsoft.com/en-us/azure/aks/supported-kubernetes-versions#alias-minor-version
func KeepVersionAlias(wanted, requested, running string) string {
	if requested != "" && wanted == running && strings.Count(requested, ".") == 1 && strings.HasPrefix(wanted, requested+".") {
		return requested
	}
	return wanted
}
