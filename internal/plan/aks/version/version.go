// Package version holds the rules about Kubernetes versions of AKS clusters and agent pools. It is pure.
package version

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
)

// WithV returns a version in the format of Kubernetes objects, as in "v1.33.2". "" stays "".
func WithV(version string) string {
	if version == "" || strings.HasPrefix(version, "v") {
		return version
	}
	return "v" + version
}

// withoutV returns a version in the format of Azure, as in "1.33.2".
func withoutV(version string) string { return strings.TrimPrefix(version, "v") }

// Highest returns the highest of the versions, without the v. Versions that cannot be parsed are the lowest, "" among them. Of equal
// versions it returns the first.
func Highest(versions ...string) string {
	out := ""
	for _, version := range versions {
		if out == "" || IsLower(out, version) {
			out = withoutV(version)
		}
	}
	return out
}

// IsLower reports whether version a is lower than b. A version that cannot be parsed is lower than any other.
func IsLower(a, b string) bool {
	x, errX := semver.ParseTolerant(a)
	y, errY := semver.ParseTolerant(b)
	if errX != nil || errY != nil {
		return errX != nil && errY == nil
	}
	return x.LT(y)
}

// Observed holds the versions that Azure shows for a cluster or agent pool.
type Observed struct {
	// Requested is the version of the last request, possibly only a minor version. Running is the version that runs, "" if Azure does
	// not show it.
	Requested, Running string
}

// Wanted returns the version to request: the highest of these, and never one that is lower than the running version, which an upgrade
// channel or a user may have raised. That AKS refuses all lower versions is an assumption. "" leaves the choice to AKS.
func Wanted(have Observed, versions ...string) string {
	return keepAlias(Highest(append(versions[:len(versions):len(versions)], have.Running)...), have)
}

// keepAlias returns the version to send. If the request in Azure was an alias like "1.33", and the wanted version is the running one,
// it returns the alias: AKS keeps the minor version as requested and runs its newest patch.
// https://learn.microsoft.com/en-us/azure/aks/supported-kubernetes-versions#alias-minor-version
func keepAlias(wanted string, have Observed) string {
	if wanted == have.Running && isAliasOf(have.Requested, wanted) {
		return have.Requested
	}
	return wanted
}

// isAliasOf reports whether a version like "1.33" stands for the newest patch of the minor version of another one.
func isAliasOf(alias, version string) bool {
	return strings.Count(alias, ".") == 1 && strings.HasPrefix(version, alias+".")
}

// WaitReason returns the reason why a pool of a version waits for its control plane, "" if AKS accepts the version. AKS rejects pools
// with a higher version than their control plane. cluster is the name of the cluster in the message, running its version, "" if it
// is not known.
// https://learn.microsoft.com/en-us/azure/aks/manage-node-pools#upgrade-a-single-node-pool
func WaitReason(cluster, running, wanted string) string {
	if running == "" || !IsLower(running, wanted) {
		return ""
	}
	return fmt.Sprintf("waits for the control plane of %s to run %s: it runs %s", cluster, WithV(wanted), WithV(running))
}

// Requested is a version that an object requests. Field names the object and the field, as in "MachinePool p spec.version".
type Requested struct{ Field, Version string }

// TooNewReason returns the message about a pool that requests a higher version than its control plane, which runs the version running
// or none yet. It is "" if AKS accepts the version, or if nothing is known of the control plane's.
func TooNewReason(pool, controlPlane Requested, running string) string {
	highest := Highest(controlPlane.Version, running)
	if highest == "" || !IsLower(highest, pool.Version) || isAliasOf(highest, withoutV(pool.Version)) {
		return ""
	}
	return fmt.Sprintf("%s %s is above %s %s: raise the control plane's version first, or lower the pool's", pool.Field, WithV(pool.Version),
		controlPlane.Field, WithV(highest))
}
