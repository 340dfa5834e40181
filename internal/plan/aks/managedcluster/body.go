package managedcluster

import (
	"slices"
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/putbody"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// defaults apply in AKS without being shown in every response.
// https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/create-or-update
var defaults = []putbody.Default{
	{Path: "properties.autoUpgradeProfile.upgradeChannel", Value: "none"},
	{Path: loadBalancerPath + "allocatedOutboundPorts", Value: "0"},
}

// loadBalancerPath is the beginning of the paths of outboundIPKinds.
const loadBalancerPath = "properties.networkProfile.loadBalancerProfile."

// outboundIPKinds are the kinds of outbound addresses of a load balancer. AKS accepts one of them. The others can be removed only by null.
var outboundIPKinds = []string{"managedOutboundIPs", "outboundIPPrefixes", "outboundIPs"}

// SetBody sets the body of a cluster's node. The body resets the values that earlier plans sent and this one does not. A stopped cluster
// is not written.
func SetBody(node *arm.Node, lastApplied applied.State, apiVersion string, have Observed, body map[string]any) {
	keepSSHKeys(body, have)
	node.WriteBlocked = have.WriteBlockedReason(node.ID.Name())
	unwanted, needsManagedIP := findUnwantedOutboundIPs(lastApplied.AppliedPaths(node.ID), body)
	node.OwnedPaths = append(node.OwnedPaths, unwanted...)
	resource := putbody.Resource{Kind: armschema.ManagedCluster, APIVersion: apiVersion, Exists: have.Exists}
	for _, kind := range outboundIPKinds {
		if jsonpath.Get(body, loadBalancerPath+kind) == nil {
			resource.KeepPaths = append(resource.KeepPaths, toPointer(loadBalancerPath+kind))
		}
	}
	resource.Set(node, lastApplied, body)
	sent := jsonpath.CloneObject(node.Body.(map[string]any))
	replaceNulls(sent)
	if needsManagedIP {
		jsonpath.Set(sent, loadBalancerPath+outboundIPKinds[0]+".count", 1)
	}
	putbody.OmitDefaults(sent, have.raw, defaults)
	node.Body = sent
}

// AddProfiles adds the pools to the body of a cluster that is to be created. lastApplied does not record them, because each pool is a
// resource of its own afterwards.
func AddProfiles(node *arm.Node, profiles []any) {
	jsonpath.Set(node.Body.(map[string]any), "properties.agentPoolProfiles", profiles)
}

// findUnwantedOutboundIPs returns the paths of the kinds of outbound addresses to remove, if the body has another kind.
// needsManagedIP means that an earlier plan sent addresses of the user and the body has none. AKS then manages one address, its
// default.
func findUnwantedOutboundIPs(applied []string, body map[string]any) (unwanted []string, needsManagedIP bool) {
	requested := false
	for _, kind := range outboundIPKinds {
		requested = requested || jsonpath.Get(body, loadBalancerPath+kind) != nil
		needsManagedIP = needsManagedIP || kind != outboundIPKinds[0] &&
			slices.ContainsFunc(applied, func(path string) bool { return strings.HasPrefix(path, toPointer(loadBalancerPath+kind)+"/") })
	}
	needsManagedIP = needsManagedIP && !requested
	if !requested && !needsManagedIP {
		return nil, false
	}
	for i, kind := range outboundIPKinds {
		if jsonpath.Get(body, loadBalancerPath+kind) == nil && !(needsManagedIP && i == 0) {
			unwanted = append(unwanted, loadBalancerPath+kind)
		}
	}
	return unwanted, needsManagedIP
}

func toPointer(path string) string { return jsonpath.Parse(path).Pointer() }

// replaceNulls replaces null by the default, for properties where AKS does not accept null.
func replaceNulls(body map[string]any) {
	for path, value := range map[string]any{
		"sku.name": string(aks.ManagedClusterSKUNameBase),
		loadBalancerPath + "allocatedOutboundPorts": 0,
	} {
		at := jsonpath.Parse(path)
		if at.Has(body) && at.Get(body) == nil {
			at.Set(body, value)
		}
	}
}

// keepSSHKeys replaces the SSH keys of nodes that differ from those in Azure only in white space. AKS keeps a newline at the end of a
// key, and keys cannot change (recording Test_AKS_Fleet_20250301_CRUD).
func keepSSHKeys(body map[string]any, have Observed) {
	profile := have.Properties.LinuxProfile
	keys, _ := jsonpath.Get(body, "properties.linuxProfile.ssh.publicKeys").([]any)
	if profile == nil {
		return
	}
	for _, item := range keys {
		key, _ := item.(map[string]any)
		text, ok := key["keyData"].(string)
		if !ok {
			continue
		}
		for _, other := range profile.SSH.PublicKeys {
			if strings.TrimSpace(other.KeyData) == strings.TrimSpace(text) {
				key["keyData"] = other.KeyData
			}
		}
	}
}
