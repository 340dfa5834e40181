package azuremanagedmachinepool

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// providerIDs are the providerIDs that cloud-provider-azure gives the nodes of these virtual machines: the ID with the name
// of the resource group in lower case.
// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/master/pkg/provider/azure_standard.go
func providerIDs(ids []arm.ID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		group := id.ResourceGroup()
		out = append(out, "azure://"+strings.Replace(string(id), "/"+group+"/", "/"+strings.ToLower(group)+"/", 1))
	}
	return out
}
