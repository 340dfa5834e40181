package recordings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// refused are the values of ASO's spec that patches cannot set, with the reason.
var refused = map[aso.Kind]map[string]string{
	aso.ManagedCluster: {
		"agentPoolProfiles[]":     "agent pools are AzureManagedMachinePools",
		"azureName":               "the name of the AzureManagedControlPlane",
		"kubernetesVersion":       "spec.version",
		"location":                "spec.location",
		"owner":                   "spec.resourceGroupName",
		"enablePodSecurityPolicy": "of v1api20240901; Azure has retired it",
		"networkProfile.loadBalancerProfile.effectiveOutboundIPs[]": "of v1api20240901; Azure has made it read-only",
		"networkProfile.natGatewayProfile.effectiveOutboundIPs[]":   "of v1api20240901; Azure has made it read-only",
		"operatorSpec.configMapExpressions[]": "expressions are computed by an operator that is " +
			"not there",
		"operatorSpec.secretExpressions[]": "expressions are computed by an operator that is " +
			"not there",
		"identityProfile.*.clientIdFromConfig":                                             "ConfigMaps are not read",
		"identityProfile.*.objectIdFromConfig":                                             "ConfigMaps are not read",
		"podIdentityProfile.userAssignedIdentities[].identity.clientIdFromConfig":          "ConfigMaps are not read",
		"podIdentityProfile.userAssignedIdentities[].identity.objectIdFromConfig":          "ConfigMaps are not read",
		"securityProfile.defender.securityGating.identities[].identity.clientIdFromConfig": "ConfigMaps are not read",
		"securityProfile.defender.securityGating.identities[].identity.objectIdFromConfig": "ConfigMaps are not read",
	},
	aso.AgentPool: {
		"azureName":                           "spec.name",
		"count":                               "spec.replicas of the MachinePool",
		"enableAutoScaling":                   "spec.scaling",
		"orchestratorVersion":                 "spec.template.spec.version of the MachinePool",
		"owner":                               "the control plane of the cluster",
		"operatorSpec.configMapExpressions[]": "expressions are computed by the Azure Service Operator, which does not run",
		"operatorSpec.secretExpressions[]":    "expressions are computed by the Azure Service Operator, which does not run",
	},
}

// examples are values that Azure's bounds and patterns take, where any value of the type does not do.
var examples = map[string]any{
	"gatewayProfile.publicIPPrefixSize":                       31,
	"identity.delegatedResources.*.tenantId":                  "00000000-0000-0000-0000-000000000000",
	"kubeletConfig.containerLogMaxFiles":                      2,
	"linuxOSConfig.sysctls.netIpv4TcpkeepaliveIntvl":          10,
	"linuxOSConfig.sysctls.netNetfilterNfConntrackBuckets":    65536,
	"linuxOSConfig.sysctls.netNetfilterNfConntrackMax":        131072,
	"linuxProfile.adminUsername":                              "azureuser",
	"networkProfile.dnsServiceIP":                             "10.0.0.10",
	"networkProfile.loadBalancerProfile.idleTimeoutInMinutes": 4,
	"networkProfile.natGatewayProfile.idleTimeoutInMinutes":   4,
	"networkProfile.podCidr":                                  "10.1.0.0/16",
	"networkProfile.serviceCidr":                              "10.0.0.0/16",
	"upgradeSettings.overrideSettings.until":                  "2026-01-31T12:00:00Z",
}

// TestPatchesKnowWhatASOKnows patches every value that ASO's types have, one by one: each must arrive at one place of Azure's
// body that the tables know, under the name that ASO's types note for references.
func TestPatchesKnowWhatASOKnows(t *testing.T) {
	used := map[string]bool{}
	specs := readASOSpecs(t)
	for _, version := range []string{"v1api20240901", "v1api20250801", "v20251002preview"} {
		spoken := aso.APIVersionOf([]string{"apiVersion: containerservice.azure.com/" + version}, false)
		for kind, name := range map[aso.Kind]string{aso.ManagedCluster: "ManagedCluster", aso.AgentPool: "ManagedClustersAgentPool"} {
			t.Run(version+"/"+string(kind), func(t *testing.T) {
				at := slices.IndexFunc(specs, func(s asoSpec) bool { return s.group == "containerservice" && s.version == version && s.kind == name })
				if at < 0 || len(specs[at].properties) < 60 {
					t.Fatal("the values of the kind are not read as they are")
				}
				properties := specs[at].properties
				for _, p := range properties {
					if reason, ok := refusedReason(kind, p.path); ok {
						used[string(kind)+" "+reason] = true
						if err := patchError(kind, spoken, p); err == nil {
							t.Errorf("%s is taken, although it is refused on purpose: %s", p.path, refused[kind][reason])
						}
						continue
					}
					checkPatch(t, kind, spoken, p)
				}
				t.Logf("%s %s: %d values", version, name, len(properties))
			})
		}
	}
	for kind, paths := range refused {
		for path := range paths {
			if !used[string(kind)+" "+path] {
				t.Errorf("%s %s is in the list of refused properties, and ASO does not have it", kind, path)
			}
		}
	}
}

// refusedReason returns the entry of the list that covers a path.
func refusedReason(kind aso.Kind, path string) (string, bool) {
	for known := range refused[kind] {
		if path == known || strings.HasPrefix(path, known+".") {
			return known, true
		}
	}
	return "", false
}

func patchError(kind aso.Kind, version string, p asoProperty) error {
	_, err := patched(kind, version, p)
	return err
}

func patched(kind aso.Kind, version string, p asoProperty) (aso.Result, error) {
	if example, ok := examples[p.path]; ok {
		p.example = example
	}
	text, err := json.Marshal(p.document())
	if err != nil {
		return aso.Result{}, err
	}
	secrets := aso.Secrets{{Name: "n", Key: "k"}: "secret"}
	return aso.ApplyPatches(kind, version, nil, []string{string(text)}, secrets)
}

func checkPatch(t *testing.T, kind aso.Kind, version string, p asoProperty) {
	t.Helper()
	for _, value := range p.enum {
		p.example = value
		if err := patchError(kind, version, p); err != nil {
			t.Errorf("%s: %v", p.path, err)
		}
	}
	got, err := patched(kind, version, p)
	if err != nil {
		t.Errorf("%s: %v", p.path, err)
		return
	}
	if strings.HasPrefix(p.path, "operatorSpec.") {
		if got.Exports == (aso.Exports{}) {
			t.Errorf("%s: nothing is exported", p.path)
		}
		return
	}
	paths := places("", got.Body)
	if len(paths) != 1 {
		t.Errorf("%s went to %v, want one place", p.path, paths)
		return
	}
	path := strings.ReplaceAll(paths[0], "entry.with/dot", "*")
	if path == "identity.userAssignedIdentities."+exampleID {
		return
	}
	if property, ok := armschema.FindProperty(kind, version, path); !ok || !property.IsSettable() {
		t.Errorf("%s went to %s, which Azure does not take", p.path, path)
	}
	name := path[strings.LastIndex(path, ".")+1:]
	switch {
	case p.arm != "":
		if !strings.EqualFold(strings.TrimSuffix(name, "[]"), p.arm) {
			t.Errorf("%s went to %s, and ASO sends it as %s", p.path, path, p.arm)
		}
	case strings.TrimPrefix(path, "properties.") != p.path:
		t.Errorf("%s went to %s, although only references have other names", p.path, path)
	}
}

// places returns the paths of the values in a body; a key of a map may have dots.
func places(path string, value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return []string{path}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out = append(out, places(strings.TrimPrefix(path+"."+key, "."), value[key])...)
		}
	case []any:
		for _, item := range value {
			out = append(out, places(fmt.Sprintf("%s[]", path), item)...)
		}
	default:
		return []string{path}
	}
	return out
}
