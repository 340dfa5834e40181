package main

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// createOnlyPhrases are the words with which comments say that a value cannot change after creation.
var createOnlyPhrases = regexp.MustCompile(`(?i)cannot be (updated|changed) once|cannot be changed later|may not be changed after creation|not allowed to changed once set|cannot be changed once`)

// createOnlyPaths are more of them, with all that is below: AKS answers a change with the code PropertyChangeNotAllowed,
// does not switch off what once was on, or has nothing that they could be set back to.
// https://learn.microsoft.com/rest/api/aks/agent-pools/create-or-update
var createOnlyPaths = map[string][]string{
	"ManagedCluster": {
		"extendedLocation", "properties.aadProfile.managed", "properties.apiServerAccessProfile.enablePrivateCluster",
		"properties.apiServerAccessProfile.enableVnetIntegration", "properties.apiServerAccessProfile.subnetId",
		"properties.creationData", "properties.diskEncryptionSetID", "properties.enableRBAC", "properties.identityProfile",
		"properties.networkProfile.dnsServiceIP", "properties.networkProfile.ipFamilies", "properties.networkProfile.loadBalancerSku",
		"properties.networkProfile.networkDataplane", "properties.networkProfile.networkMode",
		"properties.networkProfile.networkPlugin", "properties.networkProfile.networkPluginMode", "properties.networkProfile.podCidr",
		"properties.networkProfile.podCidrs", "properties.networkProfile.serviceCidr", "properties.networkProfile.serviceCidrs",
		"properties.nodeResourceGroup", "properties.oidcIssuerProfile", "properties.servicePrincipalProfile",
	},
	"AgentPool": {
		"properties.availabilityZones", "properties.capacityReservationGroupID", "properties.creationData",
		"properties.enableEncryptionAtHost", "properties.enableNodePublicIP", "properties.enableUltraSSD", "properties.gatewayProfile",
		"properties.gpuInstanceProfile", "properties.kubeletConfig", "properties.kubeletDiskType", "properties.linuxOSConfig",
		"properties.maxPods", "properties.messageOfTheDay", "properties.nodePublicIPPrefixID", "properties.osDiskSizeGB",
		"properties.osType", "properties.podIPAllocationMode", "properties.podSubnetID", "properties.proximityPlacementGroupID",
		"properties.scaleSetEvictionPolicy", "properties.scaleSetPriority", "properties.type", "properties.vmSize",
		"properties.vnetSubnetID", "properties.windowsProfile", "properties.workloadRuntime",
	},
}

func createOnly(kind, path, doc string) bool {
	return slices.Contains(createOnlyPaths[kind], path) || createOnlyPhrases.MatchString(doc)
}

// defaults corrects and completes the defaults in the comments. The path is that of either table.
var defaults = map[string]string{
	// The comment has 10, the accepted form has a unit.
	// https://learn.microsoft.com/azure/aks/cluster-autoscaler-overview#using-the-autoscaler-profile
	"properties.autoScalerProfile.scan-interval": "10s",
	// The comment tells of a change to come that has come.
	// https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image
	"properties.autoUpgradeProfile.nodeOSUpgradeChannel": "NodeImage",
	// Not documented as the default, but this value removes the service mesh.
	// https://learn.microsoft.com/azure/aks/istio-deploy-addon
	"properties.serviceMeshProfile.mode": "Disabled",
}

// defaultPhrase finds a default. It is clear when nothing follows that makes it conditional: the sentence ends, or the comment does.
// Units of integers are Azure's own.
var defaultPhrase = regexp.MustCompile(`(?:[Dd]efault(?: value| port)? is|it defaults to) (?:'([^']+?)\.?'|([A-Za-z0-9%-]+))(?: minutes)?(?:\. |\.?$| \(no )`)

// measure is a text that can only be a value, and not the name of another property.
var measure = regexp.MustCompile(`^(true|false|v?\d+[a-z%]*)$`)

// documentedDefault returns the default that the comment of a property states, "" where it states none clearly.
func documentedDefault(p property, doc string) string {
	if value, ok := defaults[p.Path]; ok {
		return value
	}
	if p.ReadOnly {
		return ""
	}
	match := defaultPhrase.FindStringSubmatch(doc)
	if match == nil {
		return ""
	}
	value := cmp.Or(match[1], match[2])
	switch p.Type {
	case "boolean":
		if _, err := strconv.ParseBool(value); err != nil {
			return ""
		}
	case "integer":
		value = strings.TrimSuffix(value, "%")
		if _, err := strconv.Atoi(value); err != nil {
			return ""
		}
	case "number":
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return ""
		}
	case "string":
		if len(p.Enum) == 0 {
			if match[1] == "" && !measure.MatchString(value) {
				return ""
			}
			return value
		}
		at := slices.IndexFunc(p.Enum, func(known string) bool { return strings.EqualFold(known, value) })
		if at < 0 {
			return ""
		}
		return p.Enum[at]
	}
	return value
}
