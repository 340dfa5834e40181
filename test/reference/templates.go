package reference

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// meanings describe the variables of templates. A variable without one fails the test.
var meanings = map[string]string{
	"CLUSTER_NAME":                            "name of the cluster; an argument of clusterctl",
	"CLUSTER_CLASS_NAME":                      "name of the ClusterClass",
	"KUBERNETES_VERSION":                      "version of Kubernetes, as `v1.34.2`; a flag of clusterctl",
	"CONTROL_PLANE_MACHINE_COUNT":             "number of control-plane machines; the flag `--control-plane-machine-count` of clusterctl",
	"WORKER_MACHINE_COUNT":                    "number of workers, of each pool; the flag `--worker-machine-count` of clusterctl",
	"AZURE_SUBSCRIPTION_ID":                   "subscription of the cluster",
	"AZURE_LOCATION":                          "region, as `eastus`",
	"AZURE_RESOURCE_GROUP":                    "resource group of the cluster",
	"AZURE_VNET_NAME":                         "name of the virtual network",
	"AZURE_CONTROL_PLANE_MACHINE_TYPE":        "VM size of control-plane machines",
	"AZURE_NODE_MACHINE_TYPE":                 "VM size of workers",
	"AZURE_SSH_PUBLIC_KEY_B64":                "public SSH key, in base64; empty for none",
	"AZURE_SSH_PUBLIC_KEY":                    "line of authorized_keys for the user capi of Windows machines",
	"AZURE_TENANT_ID":                         "tenant of the identity",
	"AZURE_CLIENT_ID":                         "client ID of the application or managed identity",
	"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY":  "client ID of the application or managed identity that the cluster is created with",
	"CLUSTER_IDENTITY_NAME":                   "name of the AzureClusterIdentity",
	"CLUSTER_IDENTITY_TYPE":                   "type of the AzureClusterIdentity",
	"AZURE_CLUSTER_IDENTITY_SECRET_NAME":      "name of the Secret with the client secret of a service principal",
	"AZURE_CLUSTER_IDENTITY_SECRET_NAMESPACE": "namespace of that Secret",
	"USER_IDENTITY":                           "user-assigned identity of the machines, for cloud-provider-azure",
	"USER_ASSIGNED_IDENTITY_PROVIDER_ID":      "resource ID of the user-assigned identity, as `azure:///subscriptions/...`",
	"CI_RG":                                   "resource group of the identity `USER_IDENTITY`",
	"SERVICE_ACCOUNT_ISSUER":                  "issuer of ServiceAccount tokens of the workload cluster",
	"ASO_CREDENTIAL_SECRET_NAME":              "name of the Secret with the credential",
	"FLATCAR_VERSION":                         "version of the Flatcar image",
	"FLATCAR_DISABLE_AUTO_UPDATE":             "`true` keeps Flatcar from updating itself",
	"AZURE_INTERNAL_LB_PRIVATE_IP":            "private address of the internal load balancer of the API server",
	"APISERVER_LB_DNS_SUFFIX":                 "suffix of the DNS name of the API server",
	"WINDOWS_SERVER_VERSION":                  "Windows release of the image, as `windows-2022`",
	"AZURE_SERVER_APP_ID":                     "client ID of the application that users of the cluster sign in to",
	"AZURE_EXTENDEDLOCATION_TYPE":             "type of the extended location",
	"AZURE_EXTENDEDLOCATION_NAME":             "name of the edge zone",
}

// renderTemplates returns the page of clusterctl's variables, for each flavor.
func renderTemplates(root fs.FS) (*page, error) {
	files, err := fs.Glob(root, "templates/cluster*.yaml")
	if err != nil {
		return nil, err
	}
	p := newPage("Variables of clusterctl", "Look up the variables of a flavor, for `clusterctl generate cluster`, and those of `clusterctl init`. Variables without a default are required. [Flavors](../selfmanaged/flavors.md) describes the flavors, [the manager](../manager.md#variables) its settings.")
	for _, file := range files {
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		rows := map[string][]string{}
		if err := addVariables(rows, string(raw)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "cluster-template"), ".yaml")
		title := "Flavor " + code(strings.TrimPrefix(name, "-"))
		switch {
		case name == "":
			title = "Without a flavor"
		case strings.HasPrefix(name, "clusterclass"):
			title = "ClusterClass " + code(strings.TrimPrefix(name, "clusterclass-"))
		}
		p.heading(2, title)
		var sorted [][]string
		for _, variable := range slices.Sorted(maps.Keys(rows)) {
			sorted = append(sorted, rows[variable])
		}
		p.table([]string{"Variable", "Default", "Meaning"}, sorted)
	}
	return p, addInitVariables(root, p)
}

// initMeanings describe the variables of `clusterctl init`.
var initMeanings = map[string]string{
	"AZURE_SUBSCRIPTION_ID_B64":                  "subscription of clusters without `subscriptionID`, in base64",
	"AZURE_AUTHORITY_HOST":                       "endpoint of Entra ID; empty is that of `azureEnvironment`",
	"AZURE_RESOURCE_MANAGER_ENDPOINT":            "endpoint of Azure Resource Manager; empty is that of `azureEnvironment`",
	"AZURE_RESOURCE_MANAGER_AUDIENCE":            "audience of tokens; empty is that of `azureEnvironment`",
	"CAPZ_TENANCY":                               "the flag `--tenancy`",
	"AZURE_SYNC_PERIOD":                          "the flag `--sync-period`",
	"CAPZ_DIAGNOSTICS_ADDRESS":                   "the flag `--diagnostics-address`",
	"CAPZ_INSECURE_DIAGNOSTICS":                  "the flag `--insecure-diagnostics`",
	"CAPZ_VERBOSITY":                             "the flag `--v`",
	"CAPZ_UNCHECKED_ASO_KINDS":                   "the flag `--unchecked-aso-kinds`",
	"EXP_MACHINE_POOL":                           "the gate `MachinePool`",
	"EXP_AKS_RESOURCE_HEALTH":                    "the gate `AKSResourceHealth`",
	"EXP_EDGEZONE":                               "the gate `EdgeZone`",
	"EXP_APISERVER_ILB":                          "the gate `APIServerILB`",
	"EXP_ASO_API":                                "the gate `ASOAPI`",
	"EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION": "a gate without effect",
}

// addInitVariables adds the variables in the manifests of the provider, which `clusterctl init` fills in.
func addInitVariables(root fs.FS, p *page) error {
	rows := map[string][]string{}
	err := fs.WalkDir(root, "config", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".yaml" {
			return err
		}
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		for _, v := range variablesIn(string(raw)) {
			if v.name != strings.ToUpper(v.name) {
				continue // of a dashboard
			}
			meaning := initMeanings[v.name]
			if meaning == "" {
				return fmt.Errorf("%s: the variable %s has no meaning. Add one to initMeanings in test/reference", file, v.name)
			}
			rows[v.name] = []string{code(v.name), defaultOf(v), meaning}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.heading(2, "clusterctl init")
	var sorted [][]string
	for _, variable := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[variable])
	}
	p.table([]string{"Variable", "Default", "Meaning"}, sorted)
	return nil
}

// defaultOf returns the default of a variable for a table.
func defaultOf(v variable) string {
	fallback := strings.Trim(v.fallback, `"`)
	switch {
	case !v.hasDefault:
		return "required"
	case fallback == "":
		return "empty"
	}
	return code(fallback)
}

// clusterctlDefaults are the values that `clusterctl generate cluster` sets if the user sets none. The default in a template then has no effect.
var clusterctlDefaults = map[string]string{"CONTROL_PLANE_MACHINE_COUNT": "1", "WORKER_MACHINE_COUNT": "0"}

// rowOf returns the row of a variable of a template.
func rowOf(v variable, meaning string) []string {
	value := clusterctlDefaults[v.name]
	switch {
	case value == "":
		return []string{code(v.name), defaultOf(v), meaning}
	case value != v.fallback:
		meaning += ". The default in the template, " + code(v.fallback) + ", is that of other programs"
	}
	return []string{code(v.name), code(value), meaning}
}

// addVariables adds the rows of the variables in a text, and of those in their defaults. A default wins over none.
func addVariables(rows map[string][]string, text string) error {
	for _, v := range variablesIn(text) {
		meaning := meanings[v.name]
		if meaning == "" {
			return fmt.Errorf("the variable %s has no meaning. Add one to meanings in test/reference", v.name)
		}
		if known := rows[v.name]; known == nil || known[1] == "required" && v.hasDefault {
			rows[v.name] = rowOf(v, meaning)
		}
		if err := addVariables(rows, v.fallback); err != nil {
			return err
		}
	}
	return nil
}
