package bridge

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// azureJSONPaths are the places of the cloud provider's configuration on Linux and Windows machines.
var azureJSONPaths = []string{"/etc/kubernetes/azure.json", "c:/k/azure.json", "C:/k/azure.json"}

// cloudConfigJSON is the part of cloud-provider-azure's configuration which decides whether a node
// can be found and reached. https://cloud-provider-azure.sigs.k8s.io/install/configs/
type cloudConfigJSON struct {
	Cloud                       string `json:"cloud"`
	TenantID                    string `json:"tenantId"`
	SubscriptionID              string `json:"subscriptionId"`
	AADClientID                 string `json:"aadClientId"`
	AADClientSecret             string `json:"aadClientSecret"`
	AADClientCertPath           string `json:"aadClientCertPath"`
	AADFederatedTokenFile       string `json:"aadFederatedTokenFile"`
	UseFederatedWorkload        bool   `json:"useFederatedWorkloadIdentityExtension"`
	ResourceGroup               string `json:"resourceGroup"`
	Location                    string `json:"location"`
	VMType                      string `json:"vmType"`
	VNetName                    string `json:"vnetName"`
	VNetResourceGroup           string `json:"vnetResourceGroup"`
	SubnetName                  string `json:"subnetName"`
	SecurityGroupName           string `json:"securityGroupName"`
	SecurityGroupResourceGroup  string `json:"securityGroupResourceGroup"`
	RouteTableName              string `json:"routeTableName"`
	RouteTableResourceGroup     string `json:"routeTableResourceGroup"`
	LoadBalancerSKU             string `json:"loadBalancerSku"`
	UseManagedIdentityExtension bool   `json:"useManagedIdentityExtension"`
	UserAssignedIdentityID      string `json:"userAssignedIdentityID"`
	UseInstanceMetadata         bool   `json:"useInstanceMetadata"`
}

// checkAzureJSON reads the cloud provider's configuration from the machine's files and compares it
// with the VM it is on and with the resources that exist. A nil inventory leaves the latter out.
// The error names the file, the key and the value (never a credential).
func checkAzureJSON(script *bootScript, g guest, plan *kubeadmPlan, inv inventory) error {
	var file bootFile
	for _, p := range azureJSONPaths {
		if f, ok := script.Files[p]; ok {
			file = f
			break
		}
	}
	if file.Path == "" {
		return fmt.Errorf("%s: %s does not write it: cloud-provider-azure has no configuration on this machine", azureJSONPaths[0],
			script.WrittenBy)
	}
	content, err := file.readContent()
	if err != nil {
		return err
	}
	var c cloudConfigJSON
	if err := userinput.DecodeJSON(content, nil, &c); err != nil {
		return fmt.Errorf("%s: cannot be read: %w", file.Path, err)
	}
	for _, check := range []func() error{
		func() error { return checkPlacement(c, g) },
		func() error { return checkCredentials(c, g, plan.controlPlane(), inv) },
		func() error { return checkNetwork(c, plan, inv) },
	} {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	return nil
}

func checkPlacement(c cloudConfigJSON, g guest) error {
	for _, k := range []struct {
		key, value string
		allowed    []string
	}{
		{"cloud", c.Cloud, []string{"AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud", "AzureStackCloud"}},
		{"subscriptionId", c.SubscriptionID, []string{g.SubscriptionID}},
		{"resourceGroup", c.ResourceGroup, []string{g.ResourceGroup}},
		{"location", c.Location, []string{g.Location}},
		{"vmType", c.VMType, []string{"standard", "vmss", "vmssflex"}},
		{"loadBalancerSku", c.LoadBalancerSKU, []string{"Standard", "Basic"}},
	} {
		if k.value == "" {
			return fmt.Errorf("key %s is missing or empty: want %s", k.key, strings.Join(k.allowed, " or "))
		}
		if !slices.ContainsFunc(k.allowed, func(a string) bool { return strings.EqualFold(a, k.value) }) {
			return fmt.Errorf("key %s is %q but the VM is in %q", k.key, k.value, strings.Join(k.allowed, " or "))
		}
	}
	if !guidPattern.MatchString(c.TenantID) {
		return fmt.Errorf("key tenantId %q is not a GUID", c.TenantID)
	}
	return nil
}

// checkCredentials compares the credential with the machine. On a worker nothing logs in with it: the kubelet does not read azure.json when
// it runs with cloud-provider=external, and cloud-node-manager asks the metadata service. So workers join with the control plane's file,
// whose managed identity they do not have. https://cloud-provider-azure.sigs.k8s.io/install/azure-ccm/
func checkCredentials(c cloudConfigJSON, g guest, controlPlane bool, inv inventory) error {
	assigned := strings.Contains(g.Identity.Type, "UserAssigned")
	switch {
	case c.UseManagedIdentityExtension && c.AADClientSecret != "":
		return fmt.Errorf("keys useManagedIdentityExtension and aadClientSecret are both set: only one identity can be used")
	case c.UseManagedIdentityExtension && !controlPlane:
	case c.UseManagedIdentityExtension && c.UserAssignedIdentityID == "":
		if !strings.Contains(g.Identity.Type, "SystemAssigned") {
			return fmt.Errorf("key useManagedIdentityExtension is true without userAssignedIdentityID but the VM's identity.type is %q, not SystemAssigned", orNone(g.Identity.Type))
		}
	case c.UseManagedIdentityExtension && !assigned:
		return fmt.Errorf("key userAssignedIdentityID is set but the VM's identity.type is %q, not UserAssigned", orNone(g.Identity.Type))
	case c.UseManagedIdentityExtension:
		return checkUserAssigned(c.UserAssignedIdentityID, g, inv)
	case c.AADClientSecret != "" || c.AADClientCertPath != "" || c.UseFederatedWorkload || c.AADFederatedTokenFile != "":
		if c.AADClientID == "" {
			return fmt.Errorf("key aadClientId is missing: a credential is given without the client it belongs to")
		}
	case controlPlane:
		return fmt.Errorf("no credential: neither useManagedIdentityExtension nor aadClientSecret is set, so cloud-controller-manager cannot log in")
	case !c.UseInstanceMetadata:
		return fmt.Errorf("no credential and useInstanceMetadata is not true: cloud-node-manager cannot learn the node's addresses")
	}
	return nil
}

// checkUserAssigned compares the client ID with those of the VM's identities, as far as the
// simulator shows them.
func checkUserAssigned(clientID string, g guest, inv inventory) error {
	var known []string
	for id, v := range g.Identity.UserAssignedIdentities {
		client, _ := nestedValue(v, "clientId").(string)
		if client == "" && inv != nil {
			client, _ = nestedValue(inv[strings.ToLower(id)], "properties", "clientId").(string)
		}
		if client != "" {
			known = append(known, client)
		}
	}
	if len(known) > 0 && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, clientID) }) {
		slices.Sort(known)
		return fmt.Errorf("key userAssignedIdentityID is %q but the client IDs of the VM's identities are %s", clientID,
			strings.Join(known, ", "))
	}
	return nil
}

func checkNetwork(c cloudConfigJSON, plan *kubeadmPlan, inv inventory) error {
	// cloud-provider-azure of a cluster that is found by a file runs elsewhere, with a configuration of its own: AKS has no tokens.
	elsewhere := plan.Join != nil && plan.Join.Discovery.File.KubeConfigPath != ""
	for _, k := range []struct{ key, value string }{
		{"vnetName", c.VNetName}, {"vnetResourceGroup", c.VNetResourceGroup}, {"subnetName", c.SubnetName},
		{"securityGroupName", c.SecurityGroupName},
	} {
		if k.value == "" && !(elsewhere && k.key == "securityGroupName") {
			return fmt.Errorf("key %s is missing or empty", k.key)
		}
	}
	if inv == nil {
		return nil
	}
	network := func(group string) string {
		return "/subscriptions/" + c.SubscriptionID + "/resourceGroups/" + group + "/providers/Microsoft.Network/"
	}
	vnet := network(c.VNetResourceGroup) + "virtualNetworks"
	for _, r := range []struct{ key, value, collection string }{
		{"vnetName", c.VNetName, vnet},
		{"subnetName", c.SubnetName, vnet + "/" + c.VNetName + "/subnets"},
		{"securityGroupName", c.SecurityGroupName, network(firstNonEmpty(c.SecurityGroupResourceGroup, c.ResourceGroup)) + "networkSecurityGroups"},
		{"routeTableName", c.RouteTableName, network(firstNonEmpty(c.RouteTableResourceGroup, c.VNetResourceGroup)) + "routeTables"},
	} {
		if r.value == "" || inv.hasID(r.collection+"/"+r.value) {
			continue
		}
		there := inv.listNames(r.collection)
		slices.Sort(there)
		return fmt.Errorf("key %s is %q but %s has only [%s]", r.key, r.value, r.collection, strings.Join(there, ", "))
	}
	return nil
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func orNone(s string) string { return firstNonEmpty(s, "None") }
