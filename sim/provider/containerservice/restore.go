package containerservice

import (
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// securityGroupNames are the names that securityGroupName returns.
var securityGroupNames = regexp.MustCompile(`^aks-agentpool-(\d+)-nsg$`)

// RestoreState returns the state that a store keeps beside the body of a cluster, for one that was created in another Azure: its API server
// answers, and it has certificates. Names that Azure drew are taken from the body, and from the names of the security groups of its node
// resource group, which list returns.
func RestoreState(shown body.Object, list func(typ, scope string) []body.Object) body.Object {
	switch body.String(shown, "properties.provisioningState") {
	case "Creating", "":
		return nil
	}
	state := body.Object{"up": true, "target": body.String(shown, "properties.currentKubernetesVersion")}
	if makeCA(state) != nil {
		return nil
	}
	for _, name := range []string{"fqdn", "privateFQDN"} {
		label, _, _ := strings.Cut(body.String(shown, "properties."+name), ".")
		if at := strings.LastIndexByte(label, '-'); at >= 0 && state["unique"] == nil {
			state["unique"] = label[at+1:]
		}
	}
	id, _ := store.ParseID(body.String(shown, "id"))
	for _, group := range list(network.SecurityGroups, nodeGroupID(id.String(), shown)) {
		if found := securityGroupNames.FindStringSubmatch(body.String(group, "name")); found != nil {
			state["digits"] = found[1]
		}
	}
	issuer := strings.TrimSuffix(body.String(shown, "properties.oidcIssuerProfile.issuerURL"), "/")
	state["guid"] = issuer[strings.LastIndexByte(issuer, '/')+1:]
	return state
}
