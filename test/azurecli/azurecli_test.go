package azurecli

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestAdopt writes manifests for every cluster, in both sets of kinds; it expects that the command proves that they write nothing, and
// lists the properties that the manifests cannot express.
func TestAdopt(t *testing.T) {
	t.Parallel()
	stage := &harness.Stage{T: t}
	stage.Azure = harness.NewSimulator(t, stage.NewSecretValue("client-secret"))
	CreatePrerequisites(stage)
	for name, cluster := range ExampleClusters(stage) {
		cluster.CreateCluster(stage, name)
		mark := stage.Azure.MarkRequests()
		for _, as := range []string{"azuremanaged", "azureasomanaged"} {
			lower := strings.ReplaceAll(strings.ToLower(name), "_", "-")
			printed, messages, err := RunAdopt(stage, "--subscription", stage.Azure.SubscriptionID, "--resource-group", name, "--name", name, "--as", as,
				"--cluster-name", lower)
			omitted := cluster.OmittedValues
			if as == "azureasomanaged" {
				omitted = nil
			} else if cluster.Nameless {
				if err == nil || !strings.Contains(err.Error(), "Use --as azureasomanaged") {
					t.Errorf("%s as %s: %v", name, as, err)
				}
				continue
			}
			if err != nil || printed == "" {
				t.Errorf("%s as %s: %v\n%s", name, as, err, messages)
			}
			for _, want := range omitted {
				if !strings.Contains(messages, "not in the manifests: "+want) {
					t.Errorf("%s as %s: the messages lack that %s:\n%s", name, as, want, messages)
				}
			}
			if got := strings.Count(messages, "not in the manifests"); got != len(omitted) {
				t.Errorf("%s as %s: %d things are not in the manifests, want %d:\n%s", name, as, got, len(omitted), messages)
			}
		}
		if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("%s: the command writes: %v", name, writes)
		}
	}
}

// TestAdoptRefuses runs the command for clusters whose manifests would change Azure, or that belong to another owner; it expects no
// manifest.
func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	stage := &harness.Stage{T: t}
	stage.Azure = harness.NewSimulator(t, stage.NewSecretValue("client-secret"))
	Cluster{cluster: body{"kubernetesVersion": "1.33", "autoUpgradeProfile": body{"upgradeChannel": "patch"}},
		Pools: []body{poolBody("nodepool1", system)}}.CreateCluster(stage, "behind")
	Cluster{top: body{"tags": body{"sigs.k8s.io_cluster-api-provider-azure_cluster_other": "owned"}},
		Pools: []body{poolBody("nodepool1", system)}}.CreateCluster(stage, "owned")
	tests := map[string]struct {
		reason        string
		arguments     []string
		messages, err string
		printed       bool
	}{
		"behind": {reason: "with an upgrade channel pools follow the control plane", arguments: []string{"--name", "behind"},
			messages: `would change or fail: agentPools/nodepool1: properties.orchestratorVersion: have "1.33.2", want "1.33.6"`,
			err:      "so they are not printed"},
		"behind, all the same": {reason: "users may want to begin with them", arguments: []string{"--name", "behind", "--unproven"},
			messages: "would change or fail: agentPools/nodepool1", printed: true},
		"another's": {reason: "two would change it in turns", arguments: []string{"--name", "owned"},
			err: "belongs to another Cluster by its tag sigs.k8s.io_cluster-api-provider-azure_cluster_other"},
		"not there": {reason: "names are mistyped", arguments: []string{"--name", "behind", "--resource-group", "owned"},
			err: "was not found"},
		"unknown kinds": {reason: "there are two", arguments: []string{"--name", "behind", "--as", "aso"},
			err: "use azuremanaged or azureasomanaged"},
		"another version": {reason: "the manager would not speak it", arguments: []string{"--name", "behind", "--api-version", "2026-05-01"},
			err: "Use --as azureasomanaged"},
		"identity of none": {reason: "resource manifests name a Secret. The value of --as is that of v2.0.0-alpha", arguments: []string{"--name", "behind", "--as", "documents", "--identity", "i"},
			err: "--identity requires --as azuremanaged"},
		"credential of none": {reason: "AzureManaged kinds name an identity", arguments: []string{"--name", "behind", "--credential-from", "s"},
			err: "--credential-from requires --as azureasomanaged"},
	}
	for name, test := range tests {
		group := test.arguments[1]
		printed, messages, err := RunAdopt(stage,
			append([]string{"--subscription", stage.Azure.SubscriptionID, "--resource-group", group}, test.arguments...)...)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %s: error %v, want %q", name, test.reason, err, test.err)
		}
		if !strings.Contains(messages, test.messages) || (printed != "") != test.printed {
			t.Errorf("%s: %s: printed %d bytes, messages:\n%s", name, test.reason, len(printed), messages)
		}
	}
	printed, messages, err := RunAdopt(stage, "--subscription", stage.Azure.SubscriptionID, "--resource-group", "behind", "--name", "behind",
		"--as", "azureasomanaged", "--api-version", "2026-05-01", "--namespace", "teams")
	if err != nil || !strings.Contains(printed, "containerservice.azure.com/v1api20260501") || !strings.Contains(printed, "namespace: teams") {
		t.Errorf("resource manifests have versions of their own: %v\n%s\n%s", err, messages, printed)
	}
}

// TestBook runs the commands of the page for clusters, signed in with the credentials of the environment.
func TestBook(t *testing.T) {
	stage := &harness.Stage{T: t}
	stage.Azure = harness.NewSimulator(t, stage.NewSecretValue("client-secret"))
	for key, value := range map[string]string{"AZURE_TENANT_ID": stage.Azure.TenantID, "AZURE_CLIENT_ID": stage.Azure.ClientID,
		"AZURE_CLIENT_SECRET": stage.Azure.ClientSecret} {
		t.Setenv(key, value)
	}
	stage.Azure.PutResource("resourceGroups/legacy", groupVersion, body{"location": "eastus"})
	stage.Azure.PutResource("resourceGroups/legacy/providers/Microsoft.ContainerService/managedClusters/c1", clusterVersion, body{
		"location": "eastus", "identity": body{"type": "SystemAssigned"},
		"properties": body{"agentPoolProfiles": []any{poolBody("nodepool1", system), poolBody("batch", nil)}},
	})
	for _, line := range PageCommands(t, "kubectl capz adopt --subscription") {
		command, _, _ := strings.Cut(line, " >")
		printed, messages, err := RunCommand(stage, nil, strings.Fields(command)[3:]...)
		if err != nil || !strings.Contains(printed, "name: c1-batch") || !strings.Contains(messages, "writes nothing to Azure") {
			t.Errorf("%s: %v\n%s\n%s", line, err, messages, printed)
		}
	}
}
