package aso

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckRefuses(t *testing.T) {
	tests := map[string]struct {
		reason  string
		kind    Kind
		version string // the stable one by default
		patch   string
		path    string
		message string // a part of it
	}{
		// The text.
		"no text": {reason: "an empty entry is a mistake of a template", kind: AgentPool, patch: " \n", path: "(the patch)",
			message: "is empty"},
		"no YAML": {reason: "the line helps, the text may be a password", kind: AgentPool, patch: "spec:\n  a: b: c\n",
			path: "(the patch)", message: "is neither JSON nor YAML (line 2)"},
		"no object": {reason: "JSON patches (RFC 6902) are lists", kind: AgentPool, patch: `[{"op":"add"}]`, path: "(the patch)",
			message: "must be an object, such as {\"spec\": {...}}, not a list"},
		"a key twice": {reason: "only one of them would count", kind: AgentPool, patch: "spec:\n  maxPods: 1\n  maxPods: 2\n",
			path: "(the patch)", message: "has a key twice in one object"},
		"two documents": {reason: "only the first would count", kind: AgentPool,
			patch: "---\nspec: {maxPods: 1}\n---\nspec: {osSKU: Ubuntu}\n", path: "(the patch)", message: "write one patch for each"},
		"no spec": {reason: "the keys are below spec", kind: AgentPool, patch: `{"maxPods":1}`, path: "maxPods",
			message: `a patch has its keys below spec, such as {"spec": {"maxPods": ...}}`},
		"Azure's own body": {reason: "the document is ASO's", kind: AgentPool, patch: `{"properties":{"maxPods":1}}`, path: "properties",
			message: "directly below spec"},
		"properties in it": {reason: "the document is ASO's", kind: AgentPool, patch: `{"spec":{"properties":{"maxPods":1}}}`,
			path: "spec.properties", message: "directly below spec"},
		"spec is null": {reason: "it cannot be deleted", kind: AgentPool, patch: `{"spec":null}`, path: "spec",
			message: "must be an object, not null"},
		"another group": {reason: "the patch is for something else", kind: ManagedCluster, patch: `{"apiVersion":"v1"}`, path: "apiVersion",
			message: "must be a version of containerservice.azure.com"},
		"another kind": {reason: "the patch is for something else", kind: AgentPool, patch: `{"kind":"ManagedCluster"}`, path: "kind",
			message: "must be ManagedClustersAgentPool"},
		"status": {reason: "it is output", kind: AgentPool, patch: `{"status":{}}`, path: "status",
			message: "only spec can be patched"},
		"labels": {reason: "there is no object that has them", kind: ManagedCluster, patch: `{"metadata":{"labels":{"a":"b"}}}`,
			path: "metadata.labels.a", message: "write it into metadata.labels of the object that has the patch"},
		"annotations": {reason: "there is no object that has them", kind: ManagedCluster, patch: `{"metadata":{"annotations":{"a":"b"}}}`,
			path: "metadata.annotations.a", message: "the provider does not use the Azure Service Operator"},
		"metadata.name": {reason: "the object's name is Azure's", kind: ManagedCluster, patch: `{"metadata":{"name":"a"}}`,
			path: "metadata.name", message: "metadata.name of the AzureManagedControlPlane"},
		"metadata.ownerRef": {reason: "there is no object that has it", kind: AgentPool, patch: `{"metadata":{"finalizers":[]}}`,
			path: "metadata.finalizers", message: "cannot be patched"},

		// What others own.
		"kubernetesVersion": {reason: "Cluster API rolls versions out", kind: ManagedCluster, patch: `{"spec":{"kubernetesVersion":"1.33"}}`,
			path: "spec.kubernetesVersion", message: "spec.version of the AzureManagedControlPlane"},
		"location": {reason: "a field of its own", kind: ManagedCluster, patch: `{"spec":{"location":"x"}}`, path: "spec.location",
			message: "spec.location of the AzureManagedControlPlane"},
		"owner": {reason: "a field of its own", kind: ManagedCluster, patch: `{"spec":{"owner":{"name":"g"}}}`, path: "spec.owner",
			message: "spec.resourceGroupName"},
		"azureName": {reason: "the object's name is Azure's", kind: ManagedCluster, patch: `{"spec":{"azureName":"x"}}`,
			path: "spec.azureName", message: "metadata.name"},
		"agentPoolProfiles": {reason: "replacing the list would delete pools", kind: ManagedCluster,
			patch: `{"spec":{"agentPoolProfiles":[]}}`, path: "spec.agentPoolProfiles", message: "AzureManagedMachinePool"},
		"orchestratorVersion": {reason: "Cluster API rolls versions out", kind: AgentPool, patch: `{"spec":{"orchestratorVersion":"1.33"}}`,
			path: "spec.orchestratorVersion", message: "of the MachinePool"},
		"count": {reason: "Cluster API or the autoscaler scales", kind: AgentPool, patch: `{"spec":{"count":3}}`,
			path: "spec.count", message: "spec.replicas of the MachinePool, or by AKS's autoscaler"},
		"count is null": {reason: "deleting it is changing it", kind: AgentPool, patch: `{"spec":{"count":null}}`, path: "spec.count",
			message: "spec.replicas"},
		"enableAutoScaling": {reason: "it changes who owns the count", kind: AgentPool, patch: `{"spec":{"enableAutoScaling":true}}`,
			path: "spec.enableAutoScaling", message: "spec.scaling"},
		"owner of a pool": {reason: "the cluster's label names the owner", kind: AgentPool, patch: `{"spec":{"owner":{"name":"c"}}}`,
			path: "spec.owner", message: "cluster.x-k8s.io/cluster-name"},
		"secretExpressions": {reason: "the provider does not compute expressions", kind: ManagedCluster,
			patch: `{"spec":{"operatorSpec":{"secretExpressions":[{"name":"a"}]}}}`, path: "spec.operatorSpec.secretExpressions",
			message: "Azure Service Operator, which the provider does not use: the exports are secrets.adminCredentials"},
		"configMapExpressions": {reason: "the provider does not compute expressions", kind: AgentPool,
			patch: `{"spec":{"operatorSpec":{"configMapExpressions":[]}}}`,
			path:  "spec.operatorSpec.configMapExpressions", message: "agent pools have no exports"},
		"an unknown export": {reason: "only a few values can be exported", kind: ManagedCluster,
			patch: `{"spec":{"operatorSpec":{"secrets":{"admin":{"name":"a","key":"b"}}}}}`, path: "spec.operatorSpec.secrets.admin",
			message: "names are adminCredentials, userCredentials"},
		"half an export": {reason: "name and key give the destination", kind: ManagedCluster,
			patch: `{"spec":{"operatorSpec":{"secrets":{"adminCredentials":{"name":"a"}}}}}`, path: "spec.operatorSpec.secrets.adminCredentials",
			message: "must refer to a key of a Secret"},
		"one destination": {
			reason: "one would overwrite the other", kind: ManagedCluster, path: "spec.operatorSpec.secrets.userCredentials",
			message: "same destination",
			patch:   `{"spec":{"operatorSpec":{"secrets":{"adminCredentials":{"name":"a","key":"b"},"userCredentials":{"name":"a","key":"b"}}}}}`,
		},
		"exports of a pool": {reason: "pools have none", kind: AgentPool, patch: `{"spec":{"operatorSpec":{"secrets":{}}}}`,
			path: "spec.operatorSpec.secrets", message: "agent pools have no exports"},

		// Keys.
		"a typing error": {reason: "the nearest name is most likely it", kind: ManagedCluster,
			patch: `{"spec":{"networkProfile":{"podCIDR":"10.0.0.0/16"}}}`, path: "spec.networkProfile.podCIDR",
			message: "is not a property of managedClusters in API version 2025-10-01; names most like it: podCidr"},
		"ASO's name is hint": {reason: "references are suggested as the document has them", kind: AgentPool,
			patch: `{"spec":{"vnetSubnetRef":{"armId":"x"}}}`, path: "spec.vnetSubnetRef", message: "names most like it: vnetSubnetReference"},
		"in a list": {reason: "items have paths, too", kind: ManagedCluster, patch: `{"spec":{"privateLinkResources":[{"nam":"a"}]}}`,
			path: "spec.privateLinkResources[0].nam", message: "names most like it: name"},
		"of a pool": {reason: "the other kind has it", kind: ManagedCluster, patch: `{"spec":{"osSKU":"Ubuntu"}}`, path: "spec.osSKU",
			message: "write it into spec.asoManagedClustersAgentPoolPatches of an AzureManagedMachinePool"},
		"of a cluster": {reason: "the other kind has it", kind: AgentPool, patch: `{"spec":{"networkProfil":{},"supportPlan":"x"}}`,
			path: "spec.supportPlan", message: "write it into spec.asoManagedClusterPatches of the AzureManagedControlPlane"},
		"preview only": {reason: "a switch makes it available", kind: ManagedCluster, patch: `{"spec":{"enableNamespaceResources":true}}`,
			path: "spec.enableNamespaceResources",
			message: "does not exist in API version 2025-10-01. API versions that have it: 2025-10-02-preview, 2026-05-02-preview. To use it, set " +
				"spec.enablePreviewFeatures of the AzureManagedControlPlane, or set apiVersion in a patch of the AzureManagedControlPlane, " +
				"for example to containerservice.azure.com/v1api20260502preview"},
		"newer": {reason: "a newer version has it", kind: AgentPool, version: "2025-10-01",
			patch: `{"spec":{"kubeletConfig":{"seccompDefault":"RuntimeDefault"}}}`, path: "spec.kubeletConfig.seccompDefault",
			message: "API versions that have it: 2025-10-02-preview, 2026-05-02-preview"},
		"renamed": {reason: "the definitions name its replacement", kind: ManagedCluster, version: "2026-05-02-preview",
			patch: `{"spec":{"azureMonitorProfile":{"appMonitoring":{"openTelemetryMetrics":{"port":1}}}}}`,
			path:  "spec.azureMonitorProfile.appMonitoring.openTelemetryMetrics.port",
			message: "does not exist in API version 2026-05-02-preview, which has in its place: grpcPort, httpPort; API versions that have it: " +
				"2025-10-02-preview"},
		"replaced": {reason: "the definitions name its replacement", kind: AgentPool, version: "2026-05-02-preview",
			patch: `{"spec":{"nodeCustomizationProfile":{}}}`, path: "spec.nodeCustomizationProfile",
			message: "which has in its place: preparedImageSpecificationProfile"},
		"gone": {reason: "nothing came in its place", kind: ManagedCluster, version: "2026-05-02-preview",
			patch: `{"spec":{"storageProfile":{"diskCSIDriver":{"version":"v2"}}}}`, path: "spec.storageProfile.diskCSIDriver.version",
			message: "API versions that have it: 2025-10-02-preview. To use it, set apiVersion in a patch of the AzureManagedControlPlane, for example to " +
				"containerservice.azure.com/v1api20251002preview"},
		"ASO's own name": {reason: "a reference of another version has its own name, too", kind: AgentPool, version: "2026-05-01",
			patch: `{"spec":{"nodeCustomizationProfile":{"nodeCustomizationReference":{"armId":"` + subnet + `"}}}}`,
			path:  "spec.nodeCustomizationProfile", message: "API versions that have it: 2025-10-02-preview"},
		"bounds": {reason: "Azure refuses it", kind: AgentPool, patch: `{"spec":{"kubeletConfig":{"containerLogMaxFiles":1}}}`,
			path: "spec.kubeletConfig.containerLogMaxFiles", message: "must be at least 2"},
		"pattern": {reason: "Azure refuses it", kind: ManagedCluster, patch: `{"spec":{"networkProfile":{"podCidr":"ten"}}}`,
			path: "spec.networkProfile.podCidr", message: "must be like the pattern ^([0-9]{1,3}"},
		"version, form": {reason: "a version has a date", kind: ManagedCluster, patch: `{"apiVersion":"containerservice.azure.com/v1"}`,
			path: "apiVersion", message: "write it in the form containerservice.azure.com/v1api20260502preview"},
		"version of a pool": {reason: "cluster and pools use one version", kind: AgentPool,
			patch: `{"apiVersion":"containerservice.azure.com/v1api20260501"}`, path: "apiVersion",
			message: "differs from the API version 2025-10-01 of the cluster"},
		"preview only below": {reason: "a switch makes it available", kind: AgentPool,
			patch: `{"spec":{"upgradeSettings":{"maxBlockedNodes":"1"}}}`, path: "spec.upgradeSettings.maxBlockedNodes",
			message: "set spec.enablePreviewFeatures"},
		"preview value": {reason: "a switch makes it available", kind: AgentPool, patch: `{"spec":{"mode":"machines"}}`, path: "spec.mode",
			message: "set spec.enablePreviewFeatures"},
		"read-only": {reason: "Azure answers it", kind: ManagedCluster, patch: `{"spec":{"fqdn":"x"}}`, path: "spec.fqdn",
			message: "is read-only"},
		"read-only beside": {reason: "Azure answers it", kind: ManagedCluster, patch: `{"spec":{"eTag":"x"}}`, path: "spec.eTag",
			message: "is read-only"},
		"read-only in stable": {
			reason: "the versions differ in one property", kind: AgentPool, patch: `{"spec":{"nodeImageVersion":"x"}}`,
			path: "spec.nodeImageVersion", message: "is read-only",
		},
		"null for unknown": {reason: "a wrong name deletes nothing", kind: AgentPool, patch: `{"spec":{"maxPod":null}}`, path: "spec.maxPod",
			message: "names most like it: maxPods"},
		"two names": {reason: "which of them wins would be chance", kind: AgentPool,
			patch: `{"spec":{"podSubnetID":"` + subnet + `","podSubnetReference":{"armId":"` + subnet + `"}}}`, path: "spec.podSubnetID",
			message: "means the same as podSubnetReference"},

		// Values.
		"a number for a string": {reason: "YAML makes numbers of versions and percentages", kind: AgentPool,
			patch: `{"spec":{"upgradeSettings":{"maxSurge":1}}}`, path: "spec.upgradeSettings.maxSurge",
			message: "must be a string, not a number: put it in quotes"},
		"a boolean for a string": {reason: "AKS has switches that are strings", kind: ManagedCluster,
			patch: "spec:\n  autoScalerProfile:\n    balance-similar-node-groups: true", path: "spec.autoScalerProfile.balance-similar-node-groups",
			message: "must be a string, not a boolean: put it in quotes"},
		"a string for a number": {reason: "the API does not convert", kind: AgentPool, patch: `{"spec":{"maxPods":"30"}}`, path: "spec.maxPods",
			message: "must be an integer, not a string"},
		"a fraction": {reason: "the API does not round", kind: AgentPool, patch: `{"spec":{"maxPods":30.5}}`, path: "spec.maxPods",
			message: "must be an integer, not a number with a fraction"},
		"a string for a boolean": {reason: "the API does not convert", kind: ManagedCluster, patch: `{"spec":{"enableRBAC":"true"}}`,
			path: "spec.enableRBAC", message: "must be true or false, not a string"},
		"a price": {reason: "the API does not convert", kind: AgentPool, patch: `{"spec":{"spotMaxPrice":"0.5"}}`,
			path: "spec.spotMaxPrice", message: "must be a number, not a string"},
		"an object for a list": {reason: "lists are replaced whole", kind: AgentPool, patch: `{"spec":{"nodeTaints":{"a":"b"}}}`,
			path: "spec.nodeTaints", message: "must be a list, not an object"},
		"a list for an object": {reason: "there is nothing to merge", kind: AgentPool, patch: `{"spec":{"upgradeSettings":[]}}`,
			path: "spec.upgradeSettings", message: "must be an object, not a list"},
		"null in a list": {reason: "lists are replaced whole", kind: AgentPool, patch: `{"spec":{"nodeTaints":[null]}}`,
			path: "spec.nodeTaints[0]", message: "leave the item out"},
		"a label that is bool": {reason: "entries have types, too", kind: AgentPool, patch: `{"spec":{"nodeLabels":{"example.com/gpu":true}}}`,
			path: "spec.nodeLabels.example.com/gpu", message: "must be a string, not a boolean: put it in quotes"},
		"an unknown value": {reason: "the values are few", kind: AgentPool, patch: `{"spec":{"scaleDownMode":"Dealocate"}}`,
			path: "spec.scaleDownMode", message: "must be one of Deallocate, Delete; the most similar value is Deallocate"},
		"no base64": {reason: "certificates are base64 of PEM", kind: ManagedCluster,
			patch: `{"spec":{"securityProfile":{"customCATrustCertificates":["-----BEGIN"]}}}`,
			path:  "spec.securityProfile.customCATrustCertificates[0]", message: "must be base64"},
		"no time": {reason: "the API wants RFC 3339", kind: ManagedCluster,
			patch: `{"spec":{"upgradeSettings":{"overrideSettings":{"until":"tomorrow"}}}}`, path: "spec.upgradeSettings.overrideSettings.until",
			message: "RFC 3339"},

		// References.
		"a name": {reason: "there are no ASO objects", kind: AgentPool,
			patch: `{"spec":{"podSubnetReference":{"group":"network.azure.com","kind":"VirtualNetworksSubnet","name":"pods"}}}`,
			path:  "spec.podSubnetReference", message: "write armId"},
		"a string": {reason: "the shape is ASO's", kind: AgentPool, patch: `{"spec":{"podSubnetReference":"x"}}`,
			path: "spec.podSubnetReference", message: "must be an object with the resource's ID"},
		"armId is null": {reason: "half a reference is none", kind: AgentPool, patch: `{"spec":{"podSubnetReference":{"armId":null}}}`,
			path: "spec.podSubnetReference.armId", message: "set the whole of it to null"},
		"no ID": {reason: "an ID has a shape", kind: AgentPool, patch: `{"spec":{"podSubnetReference":{"armId":"pods"}}}`,
			path: "spec.podSubnetReference.armId", message: "must be a resource ID"},
		"an unknown key": {reason: "a reference has one key", kind: AgentPool,
			patch: `{"spec":{"podSubnetReference":{"armID":"` + subnet + `"}}}`, path: "spec.podSubnetReference.armID",
			message: "a reference has armId only"},
		"one of a list": {reason: "items have paths, too", kind: AgentPool,
			patch: `{"spec":{"networkProfile":{"applicationSecurityGroupsReferences":[{"name":"a"}]}}}`,
			path:  "spec.networkProfile.applicationSecurityGroupsReferences[0]", message: "write armId"},
		"an identity": {reason: "an identity is a reference", kind: ManagedCluster,
			patch: `{"spec":{"identity":{"userAssignedIdentities":[{"armId":"` + userA + `"}]}}}`,
			path:  "spec.identity.userAssignedIdentities[0].armId", message: "an identity has reference only"},
		"a ConfigMap": {reason: "ConfigMaps are not read", kind: ManagedCluster,
			patch: `{"spec":{"identityProfile":{"kubeletidentity":{"clientIdFromConfig":{"name":"a","key":"b"}}}}}`,
			path:  "spec.identityProfile.kubeletidentity.clientIdFromConfig", message: "write the value as clientId"},
		"a plain password": {reason: "passwords are in Secrets", kind: ManagedCluster,
			patch: `{"spec":{"servicePrincipalProfile":{"secret":"hunter2"}}}`, path: "spec.servicePrincipalProfile.secret",
			message: `must refer to a key of a Secret, for example {"name": "...", "key": "..."}, not a string`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			version := test.version
			if version == "" {
				version = stable
			}
			found := CheckPatches(test.kind, version, []string{`{}`, test.patch}, PatchField(test.kind))
			for _, problem := range found {
				if problem.Field != PatchField(test.kind).Index(1).String() {
					t.Errorf("got the field %s", problem.Field)
				}
				if problem.BadValue == test.path && strings.Contains(problem.Detail, test.message) {
					if _, err := ApplyPatches(test.kind, version, nil, []string{test.patch}, nil); err == nil {
						t.Errorf("%s: Apply accepts a patch that Check refuses", test.reason)
					}
					return
				}
			}
			t.Errorf("%s: got %v, want %s: %s", test.reason, found, test.path, test.message)
		})
	}
}

// TestCheckFindsAll makes sure that one answer has every mistake of every patch.
func TestCheckFindsAll(t *testing.T) {
	var got []string
	for _, problem := range CheckPatches(AgentPool, stable,
		[]string{`{"spec":{"count":1,"maxPods":"x"}}`, `[]`, `{"spec":{"osSKU":"Solaris"}}`}, PatchField(AgentPool)) {
		got = append(got, problem.Field+" "+problem.BadValue.(string))
	}
	want := []string{
		"spec.asoManagedClustersAgentPoolPatches[0] spec.count", "spec.asoManagedClustersAgentPoolPatches[0] spec.maxPods",
		"spec.asoManagedClustersAgentPoolPatches[1] (the patch)", "spec.asoManagedClustersAgentPoolPatches[2] spec.osSKU",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestErrorsHaveNoValues writes a password where it does not belong, in every place and every shape: no error may repeat it.
func TestErrorsHaveNoValues(t *testing.T) {
	const password = "hunter2-hunter2"
	shapes := []any{password, []any{password}, map[string]any{"armId": password}, map[string]any{"name": password},
		map[string]any{"name": password, "key": password, "value": password}}
	for _, kind := range []Kind{ManagedCluster, AgentPool} {
		for _, path := range settableLeaves(kind, preview) {
			for _, shape := range shapes {
				if kind == ManagedCluster && strings.HasSuffix(path, "userAssignedIdentities") {
					continue // the keys are IDs
				}
				steps := strings.Split(strings.TrimPrefix(path, "properties."), ".")
				value := shape
				for i := len(steps) - 1; i >= 0; i-- {
					name, isList := strings.CutSuffix(steps[i], "[]")
					if isList {
						value = []any{value}
					}
					value = map[string]any{name: value}
				}
				text, err := json.Marshal(map[string]any{"spec": value})
				if err != nil {
					t.Fatal(err)
				}
				for _, patch := range []string{string(text), string(text) + ":", "'" + string(text), "a: " + string(text) + ": b"} {
					_, err := ApplyPatches(kind, preview, nil, []string{patch}, Secrets{})
					if _, missing := err.(*MissingSecretsError); err != nil && !missing && strings.Contains(err.Error(), "hunter2") {
						t.Errorf("%s: the error has the value: %v", path, err)
					}
				}
			}
		}
	}
}
