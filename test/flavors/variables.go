package flavors

import (
	"encoding/base64"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Identities that users bring: those that the templates give to control planes by default, and those that
// user-assigned-identity needs.
const (
	DefaultIdentity = "resourceGroups/cluster-api/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cluster-api-control-plane"
	OwnIdentity     = "resourceGroups/identities/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes"
)

// TemplateVariables are values for the variables that templates of self-managed clusters require, and the more that are given. Variables with a
// default are not among them. Commands of pages set the numbers of machines with flags, because clusterctl's own default is 0 workers.
func TemplateVariables(more map[string]string) map[string]string {
	variables := map[string]string{
		"CLUSTER_NAME":                           "c1",
		"KUBERNETES_VERSION":                     harness.KubernetesVersion,
		"AZURE_SUBSCRIPTION_ID":                  server.DefaultSubscription,
		"AZURE_TENANT_ID":                        server.DefaultTenant,
		"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY": server.DefaultClientID,
		"AZURE_LOCATION":                         "eastus",
		"AZURE_CONTROL_PLANE_MACHINE_TYPE":       "Standard_D2s_v3",
		"AZURE_NODE_MACHINE_TYPE":                "Standard_D2s_v3",
		"CLUSTER_IDENTITY_NAME":                  "cluster-identity",
	}
	for name, value := range more {
		variables[name] = value
	}
	return variables
}

// FlavorVariables are the variables of flavors of self-managed clusters beside those of TemplateVariables, by the name of the flavor.
var FlavorVariables = map[string]map[string]string{
	"edgezone": {"AZURE_LOCATION": "westus", "AZURE_EXTENDEDLOCATION_NAME": "losangeles",
		"AZURE_EXTENDEDLOCATION_TYPE": "EdgeZone"},
	"nvidia-gpu":             {"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"},
	"aad":                    {"AZURE_SERVER_APP_ID": "22222222-aaaa-4bbb-8ccc-333333333333"},
	"user-assigned-identity": {"USER_ASSIGNED_IDENTITY_PROVIDER_ID": "/subscriptions/" + server.DefaultSubscription + "/" + OwnIdentity},
	"windows":                {"AZURE_SSH_PUBLIC_KEY": SSHKey, "AZURE_SSH_PUBLIC_KEY_B64": SSHKeyB64},
	"machinepool-windows":    {"AZURE_SSH_PUBLIC_KEY": SSHKey, "AZURE_SSH_PUBLIC_KEY_B64": SSHKeyB64},
	"flatcar":                {"FLATCAR_VERSION": "3815.2.0"},
	"flatcar-sysext":         {"FLATCAR_VERSION": "3815.2.0"},
	"topology":               {"CLUSTER_CLASS_NAME": "default"},
	"apiserver-ilb":          {"APISERVER_LB_DNS_SUFFIX": "abc123"},
	"windows-apiserver-ilb":  {"APISERVER_LB_DNS_SUFFIX": "abc123", "AZURE_SSH_PUBLIC_KEY": SSHKey},
}

// FlavorName returns the name of a template's flavor, "" for the default one.
func FlavorName(file string) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(file, "cluster-template"), ".yaml"), "-")
}

// CreateIdentities makes the identities that users bring.
func CreateIdentities(stage *harness.Stage) {
	stage.T.Helper()
	stage.Azure.PutResource("resourceGroups/cluster-api", "2021-04-01", map[string]any{"location": "eastus"})
	stage.Azure.PutResource("resourceGroups/identities", "2021-04-01", map[string]any{"location": "eastus"})
	for _, identity := range []string{DefaultIdentity, OwnIdentity} {
		stage.Azure.PutResource(identity, "2023-01-31", map[string]any{"location": "eastus"})
	}
	// The Secret of the identity that Into gives its credential.
	stage.CreateCredential(stage.Azure.ClientSecret)
}

// SSHKey is a public key as AZURE_SSH_PUBLIC_KEY has it.
const SSHKey = harness.SSHKey

// SSHKeyB64 is that key as AZURE_SSH_PUBLIC_KEY_B64 has it.
var SSHKeyB64 = base64.StdEncoding.EncodeToString([]byte(SSHKey))
