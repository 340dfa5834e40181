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

// highest is the highest of the versions, without the v. Versions that cannot be read, "" among them, are the lowest, and
// of equal ones the first is taken.
func highest(versions ...string) string {
	out := ""
	for _, version := range versions {
		if out == "" || less(out, version) {
			out = withoutV(version)
		}
	}
	return out
}

// HighestVersion is the highest of the versions, without the v.
func HighestVersion(versions ...string) string { return highest(versions...) }

// less tells whether version a is lower than b. A version that cannot be read is lower than any other.
func less(a, b string) bool {
	x, errX := semver.ParseTolerant(a)
	y, errY := semver.ParseTolerant(b)
	if errX != nil || errY != nil {
		return errX != nil && errY == nil
	}
	return x.LT(y)
}

// Alias is the version to send so that what Azure was asked for before, like "1.33", is not fought over: AKS keeps the
// name of a minor version and runs the newest patch of it. asked is what Azure shows as asked for, runs what it runs.
// https://learn.microsoft.com/en-us/azure/aks/supported-kubernetes-versions#alias-minor-version
func Alias(wanted, asked, runs string) string {
	if asked != "" && wanted == runs && strings.Count(asked, ".") == 1 && strings.HasPrefix(wanted, asked+".") {
		return asked
	}
	return wanted
}
