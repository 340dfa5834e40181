package webhook

import (
	"cmp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func asoControlPlane(t testing.TB, documents ...string) *infrav1.AzureASOManagedControlPlane {
	t.Helper()
	out := &infrav1.AzureASOManagedControlPlane{}
	out.Name, out.Spec.Version = "c1", "v1.33.2"
	for _, text := range documents {
		content, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out.Spec.Resources = append(out.Spec.Resources, runtime.RawExtension{Raw: content})
	}
	return out
}

// TestManifestsAtApply applies resource manifests with mistakes; it expects a refusal with the place and the remedy.
func TestManifestsAtApply(t *testing.T) {
	aks := func(spec string) string {
		return "{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedCluster, metadata: {name: c1}, spec: {owner: {name: c1}, " +
			"location: eastus, " + spec + "}}"
	}
	window := func(meta, spec string) string {
		return "{apiVersion: containerservice.azure.com/v1api20251001, kind: MaintenanceConfiguration, metadata: " +
			"{" + meta + "}, spec: {" + spec + "}}"
	}
	fine := aks("dnsPrefix: c1")
	tests := map[string]struct {
		reason    string
		documents []string
		want      []string
	}{
		"fine": {"documents of another object are not known here", []string{fine, window("name: default", "owner: {name: c1}")}, nil},
		"no managed cluster": {"there is no control plane without", []string{window("name: default", "owner: {name: c1}")},
			[]string{"spec.resources: Required value: a resource manifest of kind ManagedCluster, group containerservice.azure.com"}},
		"no document": {"the apiVersion is required", []string{fine, "{kind: Fleet}"},
			[]string{"spec.resources[1].apiVersion: Required", "spec.resources[1].metadata.name: Required"}},
		"unknown kind": {"the nearest kinds of the group are suggested",
			[]string{fine, "{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedClustersAgentPools, metadata: {name: x}, spec: {}}"},
			[]string{`spec.resources[1].kind: Invalid value: "ManagedClustersAgentPools": the provider has no definition of ManagedClustersAgentPools of containerservice.azure.com`}},
		"no version of Azure": {"the api-version of Azure is not known",
			[]string{fine, "{apiVersion: containerservice.azure.com/v1, kind: Fleet, metadata: {name: x}, spec: {}}"},
			[]string{"spec.resources[1].apiVersion: Invalid value"}},
		"the same twice": {"one of them would win", []string{fine, fine}, []string{"spec.resources[1]: Duplicate value"}},
		"one resource twice": {"one of them would win",
			[]string{fine, window("name: a",
				"azureName: default, owner: {armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/m}"),
				window("name: b",
					"azureName: default, owner: {armId: "+
						"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/m}")}, []string{
				"spec.resources[2]: Duplicate value"}},
		"misspelt": {"the nearest name is suggested", []string{aks("dnsPrefx: c1")},
			[]string{`spec.resources[0].spec.dnsPrefx: Invalid value: "": ManagedCluster has no such property in API version 2025-10-01; names most like it: dnsPrefix`}},
		"pools": {"each has an object of its own", []string{aks("agentPoolProfiles: []")},
			[]string{"spec.resources[0].spec.agentPoolProfiles: Forbidden: must not be set. Create an AzureASOManagedMachinePool for each agent " +
				"pool"}},
		"another version": {"Cluster API owns the version", []string{aks(`kubernetesVersion: "1.32.1"`)},
			[]string{`spec.resources[0].spec.kubernetesVersion: Invalid value: "1.32.1": differs from "1.33.2", the value of spec.version of the AzureASOManagedControlPlane`}},
		"the same version": {"it may be repeated", []string{aks(`kubernetesVersion: "1.33.2"`)}, nil},
		"policy": {"there are three",
			[]string{strings.Replace(fine, "{name: c1}", "{name: c1, annotations: {serviceoperator.azure.com/reconcile-policy: keep}}", 1)},
			[]string{"spec.resources[0].metadata.annotations[serviceoperator.azure.com/reconcile-policy]: Unsupported value"}},
		"two credentials": {"one reconciliation has one credential",
			[]string{strings.Replace(fine, "{name: c1}", "{name: c1, annotations: {serviceoperator.azure.com/credential-from: a}}", 1),
				window("name: default, annotations: {serviceoperator.azure.com/credential-from: b}", "owner: {name: c1}")},
			[]string{`spec.resources[1].metadata.annotations[serviceoperator.azure.com/credential-from]: Invalid value: "b": another manifest of the object names a`}},
		"marks": {"a manifest cannot give a resource to another Cluster",
			[]string{aks("tags: {sigs.k8s.io_cluster-api-provider-azure_cluster_other: owned}")},
			[]string{"spec.resources[0].spec.tags[sigs.k8s.io_cluster-api-provider-azure_cluster_other]: Forbidden"}},
		"password in the text": {"the message shows no part of a value",
			[]string{aks("windowsProfile: {adminUsername: u, adminPassword: {secret: hunter2}}")},
			[]string{"spec.resources[0].spec.windowsProfile.adminPassword: Invalid value: \"\": must be a string, or a key of a Secret"}},
		"values to write": {"the operator of ASO would write them",
			[]string{aks("operatorSpec: {secrets: {adminCredentials: {name: s, key: k}}, configMaps: {oidcIssuerProfile: {name: c, key: k}}}")},
			nil},
		"expressions": {"the provider does not compute expressions",
			[]string{aks("operatorSpec: {secretExpressions: [{name: s, key: k, value: self.spec.location}]}")},
			[]string{"spec.resources[0].spec.operatorSpec.secretExpressions: Forbidden: expressions are not supported"}},
		"no such value": {"the provider does not write this value", []string{aks("operatorSpec: {secrets: {primaryKey: {name: s, key: k}}}")},
			[]string{`spec.resources[0].spec.operatorSpec.secrets.primaryKey: Unsupported value: "primaryKey": supported values: "adminCredentials", "userCredentials"`}},
		"value to nowhere": {"there is no key", []string{aks("operatorSpec: {configMaps: {principalId: {name: c}}}")},
			[]string{"spec.resources[0].spec.operatorSpec.configMaps.principalId.key: Required value"}},
		"value of a window": {"it has none",
			[]string{fine, window("name: default", "owner: {name: c1}, operatorSpec: {configMaps: {id: {name: c, key: k}}}")},
			[]string{"spec.resources[1].spec.operatorSpec.configMaps.id: Forbidden"}},
		"one place": {"one value would take the other's place",
			[]string{aks("operatorSpec: {secrets: {adminCredentials: {name: s, key: k}, userCredentials: {name: s, key: k}}}")},
			[]string{"spec.resources[0].spec.operatorSpec.secrets.userCredentials: Invalid value: \"\": has the same destination as " +
				"spec.resources[0].spec.operatorSpec.secrets.adminCredentials"}},
		"value elsewhere": {"a name leads into no other namespace",
			[]string{aks("operatorSpec: {secrets: {adminCredentials: {name: ../kube-system/s, key: k}}, configMaps: {principalId: {name: c, key: " +
				"a/b}}}")}, []string{"spec.resources[0].spec.operatorSpec.configMaps.principalId.key: Invalid " +
				"value", "spec.resources[0].spec.operatorSpec.secrets.adminCredentials.name: Invalid value"}},
		"Secret elsewhere": {"a name leads into no other namespace",
			[]string{aks("windowsProfile: {adminUsername: u, adminPassword: {name: other/hunter2, key: password}}")},
			[]string{"spec.resources[0].spec.windowsProfile.adminPassword.name: Invalid value: \"\": is not a valid name of a Secret"}},
		"credential elsewhere": {"a name leads into no other namespace",
			[]string{strings.Replace(fine, "{name: c1}",
				"{name: c1, annotations: {serviceoperator.azure.com/credential-from: other/aso-credential}}", 1)},
			[]string{"spec.resources[0].metadata.annotations[serviceoperator.azure.com/credential-from]: Invalid value: \"\": is not a valid name of a " +
				"Secret"}},
		"template of Azure": {"its resources are in no document",
			[]string{fine, "{apiVersion: resources.azure.com/v20250401, kind: Deployment, metadata: {name: x}, spec: {owner: {name: c1}}}"},
			[]string{"spec.resources[1].kind: Forbidden: a Deployment changes resources without a manifest"}},
		"tags of others": {"they mark the owner of a resource",
			[]string{fine,
				"{apiVersion: resources.azure.com/v20250401, kind: Tag, metadata: {name: default}, spec: {owner: {armId: " +
					"/subscriptions/s/resourceGroups/g}}}"}, []string{"spec.resources[1].kind: Forbidden"}},
		"no operator": {"the policy has no other value", []string{aks("operatorSpec: {webhooks: {}}")},
			[]string{`spec.resources[0].spec.operatorSpec.webhooks: Unsupported value`}},
		"name": {"AKS takes no dots", []string{strings.Replace(fine, "owner:", "azureName: a.b, owner:", 1)},
			[]string{`spec.resources[0].spec.azureName: Invalid value: "a.b": is not a valid name of a ManagedCluster in Azure`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			errs, err := asoControlPlanes(managedLookup{}, plan.Features{ASOAPI: true}).create(t.Context(), asoControlPlane(t, test.documents...))
			if err != nil || len(errs) != len(test.want) {
				t.Fatalf("%s: %v %v", test.reason, errs, err)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(errs[i].Error(), want) {
					t.Errorf("%s: got %s", test.reason, errs[i])
				}
				if strings.Contains(errs[i].Error(), "hunter2") {
					t.Errorf("%s: %s", test.reason, errs[i])
				}
			}
		})
	}
}

// TestManifestsWithoutGate tests that new objects are refused without the gate, and that stored ones can be changed.
func TestManifestsWithoutGate(t *testing.T) {
	off := asoControlPlanes(managedLookup{}, plan.Features{})
	obj := asoControlPlane(t, manifestSeed)
	if errs, err := off.create(t.Context(), obj); err != nil || len(errs) != 1 ||
		!strings.HasPrefix(errs[0].Error(), "spec: Forbidden: needs the feature gate ASOAPI") {
		t.Errorf("made with the gate off: %v %v", errs, err)
	}
	if errs, err := off.update(t.Context(), obj, obj); err != nil || len(errs) > 0 {
		t.Errorf("changed with the gate off: %v %v", errs, err)
	}
}

// TestManifestsAtUpdate: updates of stored documents stay possible, and resources keep their IDs.
func TestManifestsAtUpdate(t *testing.T) {
	aks := func(version, spec string) string {
		return "{apiVersion: containerservice.azure.com/" + version + ", kind: ManagedCluster, metadata: {name: c1}, spec: {location: eastus, " +
			"" + spec + "}}"
	}
	const v = "v1api20251001"
	tests := map[string]struct {
		reason, before, after string
		want                  string
		// record is the annotation of the stored object, "" for that of a cluster c1 that was sent.
		record string
		// former is set for an object that the established provider made.
		former bool
	}{
		"name, first try":  {reason: "it was never sent", record: "none", before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: g}, azureName: x")},
		"owner, first try": {reason: "it was never sent", record: "none", before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: h}")},
		"owner, others sent": {reason: "a typo in the owner keeps this resource from being sent, and others were", record: `{"applied":{"g":[""]}}`,
			before: aks(v, "owner: {name: typo}"), after: aks(v, "owner: {name: g}")},
		"owner, made by the established provider": {reason: "no annotation has its resources", record: "none", former: true,
			before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: h}"), want: "spec.resources[0].spec.owner: Forbidden"},
		"stored mistake":  {reason: "an update is not refused for a stored mistake", before: aks(v, "owner: {name: g}, dnsPrefx: a"), after: aks(v, "owner: {name: g}, dnsPrefx: a, dnsPrefix: b"), want: ""},
		"new mistake":     {reason: "it is refused for its own", before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: g}, dnsPrefx: a"), want: "spec.resources[0].spec.dnsPrefx"},
		"another version": {reason: "each update may speak another one", before: aks(v, "owner: {name: g}"), after: aks("v20251002preview", "owner: {name: g}"), want: ""},
		"another name":    {reason: "it would be another resource", before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: g}, azureName: x"), want: "spec.resources[0].spec.azureName: Forbidden"},
		"another owner":   {reason: "it would be another resource", before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: h}"), want: "spec.resources[0].spec.owner: Forbidden"},
		"its own name":    {reason: "it is the same resource", before: aks(v, "owner: {name: g}"), after: aks(v, "owner: {name: g}, azureName: c1"), want: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old := asoControlPlane(t, test.before)
			old.Status.Initialized = test.former
			if test.record != "none" {
				old.Annotations = map[string]string{infrav1.AppliedAnnotation: cmp.Or(test.record,
					`{"applied":{"g/providers/Microsoft.ContainerService/managedClusters/c1":[""]}}`)}
			}
			errs, err := asoControlPlanes(managedLookup{}, plan.Features{ASOAPI: true}).update(t.Context(), old, asoControlPlane(t, test.after))
			got := ""
			if len(errs) > 0 {
				got = errs[0].Error()
			}
			if err != nil || len(errs) > 1 || !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%s: got %v, %v", test.reason, errs, err)
			}
		})
	}
}

// TestUnsupportedPoolType creates a pool whose VMs the provider does not list, with a warning.
func TestUnsupportedPoolType(t *testing.T) {
	for poolType, want := range map[string]int{"VirtualMachineScaleSets": 0, "VirtualMachines": 1} {
		pool := &infrav1.AzureASOManagedMachinePool{}
		pool.Spec.Resources = []runtime.RawExtension{rawManifest(t, "{apiVersion: containerservice.azure.com/v20251001, kind: ManagedClustersAgentPool, "+
			"metadata: {name: p}, spec: {owner: {name: c1}, type: "+poolType+"}}")}
		warnings, err := asoPools(managedLookup{}, plan.Features{ASOAPI: true}).ValidateCreate(t.Context(), pool)
		if err != nil || len(warnings) != want || want > 0 && !strings.HasPrefix(warnings[0], "spec.resources[0].spec.type: the provider does not list the VMs") {
			t.Errorf("type %s: %v, warnings %q", poolType, err, warnings)
		}
	}
}

// TestNewerVersions applies a version that the provider does not know; it expects that it is admitted with a warning.
func TestNewerVersions(t *testing.T) {
	text := "{apiVersion: containerservice.azure.com/v20990101, kind: ManagedCluster, metadata: {name: c1}, spec: {owner: {name: c1}, " +
		"location: eastus, tomorrow: 1}}"
	unchecked := strings.Replace(text, "{name: c1}", `{name: c1, annotations: {infrastructure.cluster.x-k8s.io/unchecked: "true"}}`, 1)
	for _, test := range []struct {
		reason, document string
		refused          bool
	}{
		{"it is checked against the newest that is known", text, true},
		{"a user who asks for it may send properties that only Azure knows", unchecked, false},
		{"a known version is checked nevertheless", strings.Replace(unchecked, "v20990101", "v20251001", 1), true},
	} {
		obj := asoControlPlane(t, test.document)
		errs, err := asoControlPlanes(managedLookup{}, plan.Features{ASOAPI: true}).create(t.Context(), obj)
		if err != nil || (len(errs) > 0) != test.refused {
			t.Errorf("%s: %v, %v", test.reason, errs, err)
		}
		if warned := len(asoControlPlanes(managedLookup{}, plan.Features{ASOAPI: true}).warn(nil, obj)) == 1; warned != strings.Contains(test.document,
			"v20990101") {
			t.Errorf("%s: warned is %t", test.reason, warned)
		}
	}
}

// TestManifestsDowngrade changes spec.version of control planes with manifests, as TestImmutable does with typed ones.
func TestManifestsDowngrade(t *testing.T) {
	for name, test := range map[string]struct {
		reason, before, after, running string
		want                           bool
	}{
		"upgrade":        {"AKS upgrades", "v1.33.2", "v1.34.1", "v1.33.2", false},
		"downgrade":      {"AKS does not downgrade", "v1.34.1", "v1.33.2", "v1.34.1", true},
		"refused by AKS": {"a version that never ran can be given up", "v1.99.0", "v1.33.2", "v1.33.2", false},
		"raised by AKS": {"an object whose version is below the running one can be changed in other fields", "v1.33.2", "v1.33.2", "v1.34.1",
			false},
		"nothing runs":    {"the cluster does not exist", "v1.34.1", "v1.33.2", "", false},
		"version removed": {"the manifest has one, or AKS keeps its own", "v1.34.1", "", "v1.34.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			before := asoControlPlane(t,
				"{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedCluster, metadata: {name: c1}, spec: {owner: {name: c1}, "+
					"location: eastus}}")
			after := before.DeepCopy()
			before.Spec.Version, after.Spec.Version, before.Status.Version = test.before, test.after, test.running
			errs, err := asoControlPlanes(managedLookup{}, plan.Features{ASOAPI: true}).update(t.Context(), before, after)
			want := "spec.version: Invalid value: \"" + test.after + "\": must be at least " + test.running + ", which the control plane runs: " +
				"AKS cannot downgrade"
			if err != nil || test.want != (len(errs) == 1) || test.want && errs[0].Error() != want {
				t.Errorf("%s: %v %v", test.reason, errs, err)
			}
		})
	}
}
