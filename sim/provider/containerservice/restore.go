package containerservice

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// RestoreState returns the state that a store keeps beside the body of a cluster, for one that was created in another Azure: its API server
// answers, and it has certificates. Names that Azure drew are taken from the body.
func RestoreState(shown body.Object) body.Object {
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
	issuer := strings.TrimSuffix(body.String(shown, "properties.oidcIssuerProfile.issuerURL"), "/")
	state["guid"] = issuer[strings.LastIndexByte(issuer, '/')+1:]
	return state
}
