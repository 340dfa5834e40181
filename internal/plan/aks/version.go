package aks

import (
	"strings"

	"github.com/blang/semver/v4"
)

// withV is a version as Kubernetes objects write it, withoutV as Azure does. "" stays "".
func withV(version string) string {
	if version == "" || strings.HasPrefix(version, "v") {
		return version
	}
	return "v" + version
}

func withoutV(version string) string { return strings.TrimPrefix(version, "v") }

// highestVersion is the highest of the versions, without the v. Versions that cannot be read, "" among them, are the lowest, and
// of equal ones the first is taken.
func highestVersion(versions ...string) string {
	out := ""
	for _, version := range versions {
		if out == "" || isLowerVersion(out, version) {
			out = withoutV(version)
		}
	}
	return out
}

// HighestVersion is the highest of the versions, without the v.
func HighestVersion(versions ...string) string { return highestVersion(versions...) }

// isLowerVersion tells whether version a is lower than b. A version that cannot be read is lower than any other.
func isLowerVersion(a, b string) bool {
	x, errX := semver.ParseTolerant(a)
	y, errY := semver.ParseTolerant(b)
	if errX != nil || errY != nil {
		return errX != nil && errY == nil
	}
	return x.LT(y)
}

// KeepVersionAlias is the version to send so that what Azure was asked for before, like "1.33", is not fought over: AKS keeps the
// name of a minor version and runs the newest patch of it. asked is what Azure shows as asked for, runs what it runs.
// https://learn.microsoft.com/en-us/azure/aks/supported-kubernetes-versions#alias-minor-version
func KeepVersionAlias(wanted, requested, running string) string {
	if requested != "" && wanted == running && strings.Count(requested, ".") == 1 && strings.HasPrefix(wanted, requested+".") {
		return requested
	}
	return wanted
}
