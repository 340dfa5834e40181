package aks

import (
	"regexp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Maximum lengths of the names of node pools in characters:
// https://learn.microsoft.com/en-us/azure/aks/create-node-pools#limitations
const (
	maxLinuxPoolName   = 12
	maxWindowsPoolName = 6
)

var poolNamePattern = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// IsPoolName reports whether AKS accepts the name for a pool of this class.
func IsPoolName(name string, spec *infrav1.AzureManagedMachinePoolClassSpec) bool {
	return len(name) <= MaxPoolName(spec) && poolNamePattern.MatchString(name)
}

// MaxPoolName returns the maximum length of the name of a pool of this class in characters.
func MaxPoolName(spec *infrav1.AzureManagedMachinePoolClassSpec) int {
	if IsWindows(spec) {
		return maxWindowsPoolName
	}
	return maxLinuxPoolName
}

// IsWindows reports whether the nodes of the pool run Windows.
func IsWindows(spec *infrav1.AzureManagedMachinePoolClassSpec) bool {
	return spec.OSType != nil && *spec.OSType == infrav1.WindowsOS
}
