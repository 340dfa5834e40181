package migration_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors/estate"
)

// variables are those that flavors require beside the ones that all do.
var variables = map[string]map[string]string{
	"edgezone": {"AZURE_LOCATION": "westus", "AZURE_EXTENDEDLOCATION_NAME": "losangeles",
		"AZURE_EXTENDEDLOCATION_TYPE": "EdgeZone"},
	"nvidia-gpu":             {"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"},
	"aad":                    {"AZURE_SERVER_APP_ID": "22222222-aaaa-4bbb-8ccc-333333333333"},
	"user-assigned-identity": {"USER_ASSIGNED_IDENTITY_PROVIDER_ID": "/subscriptions/" + flavors.TemplateVariables(nil)["AZURE_SUBSCRIPTION_ID"] + "/" + flavors.OwnIdentity},
	"windows":                {"AZURE_SSH_PUBLIC_KEY": flavors.SSHKey, "AZURE_SSH_PUBLIC_KEY_B64": flavors.SSHKeyB64},
	"machinepool-windows":    {"AZURE_SSH_PUBLIC_KEY": flavors.SSHKey, "AZURE_SSH_PUBLIC_KEY_B64": flavors.SSHKeyB64},
	"flatcar":                {"FLATCAR_VERSION": "3815.2.0"},
	"flatcar-sysext":         {"FLATCAR_VERSION": "3815.2.0"},
	"topology":               {"CLUSTER_CLASS_NAME": "default"},
}

// TestMigrateSelfManaged migrates every flavor of self-managed clusters. Those with an internal load balancer beside the
// public one need another API server, and are taken over in test/flavors/apiserverilb; the class comes with topology.
func TestMigrateSelfManaged(t *testing.T) {
	t.Parallel()
	for _, file := range flavors.TemplateNames(t) {
		name := flavorName(file)
		if strings.HasPrefix(name, "aks") || name == "clusterclass" || strings.HasSuffix(name, "apiserver-ilb") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			estate.Migrate(t, environment, file, variables[name], gates)
		})
	}
}

// flavorName returns the name of a template's flavor, "" for the default one.
func flavorName(file string) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(file, "cluster-template"), ".yaml"), "-")
}
