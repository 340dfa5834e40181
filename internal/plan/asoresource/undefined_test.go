package asoresource

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// TestKindsWithoutDefinition checks manifests of all kinds without a definition. The rules that need no definition hold for them.
func TestKindsWithoutDefinition(t *testing.T) {
	const all, owner = "*", "owner: {group: resources.azure.com, kind: ResourceGroup, name: g}"
	tests := map[string]struct {
		reason, spec string
		// allowed is the value of the flag, "*" for all kinds and "group" for those of the group.
		allowed string
		lent    bool
		want    string
	}{
		"allowed":          {reason: "the manager allows the kind", spec: owner, allowed: all},
		"allowed by group": {reason: "the manager allows the group", spec: owner, allowed: "group"},
		"not allowed": {reason: "nothing checks the manifest", spec: owner,
			want: "spec.resources[1].kind: Invalid value: %s: the provider has no definition of "},
		"lent": {reason: "nothing shows what the manifest changes", spec: owner, allowed: all, lent: true,
			want: "spec.resources[1].kind: Forbidden: a "},
		"no owner": {reason: "a resource has a parent", spec: "x: 1", allowed: all, want: "spec.resources[1].spec.owner: Required value"},
		"another subscription": {reason: "owners are in the subscription of the credential",
			spec: "owner: {armId: /subscriptions/other/resourceGroups/g}", allowed: all, want: "spec.resources[1].spec.owner.armId: "},
		"ownership tag": {reason: "only the provider sets it", spec: owner + ", tags: {sigs.k8s.io_cluster-api-provider-azure_cluster_c2: owned}",
			allowed: all, want: "spec.resources[1].spec.tags[sigs.k8s.io_cluster-api-provider-azure_cluster_c2]: Forbidden"},
		"key of a Secret": {reason: "Azure may show the value", spec: owner + ", x: {inner: {name: s, key: k}}", allowed: all,
			want: "spec.resources[1].spec.x.inner: Forbidden: cannot be the key of a Secret"},
		"key of a Secret in a list": {reason: "Azure may show the value", spec: owner + ", x: [{name: s, key: k}]", allowed: all,
			want: "spec.resources[1].spec.x[0]: Forbidden: cannot be the key of a Secret"},
		"password": {reason: "Azure may show the value", spec: owner + ", x: {adminPassword: hunter2}", allowed: all,
			want: "spec.resources[1].spec.x.adminPassword: Forbidden: must not be set"},
		"reference to another namespace": {reason: "references stay in the namespace",
			spec: owner + ", xReference: {group: a, kind: B, name: c, namespace: d}", allowed: all,
			want: "spec.resources[1].spec.xReference.namespace: Forbidden"},
		"export": {reason: "nothing is exported", spec: owner + ", operatorSpec: {secrets: {x: {name: s, key: k}}}", allowed: all,
			want: "spec.resources[1].spec.operatorSpec.secrets.x: Forbidden"},
	}
	versions := map[string]string{"insights.azure.com": "v1api20210501preview"}
	for name, test := range tests {
		for _, full := range aso.ListUncheckedKinds() {
			t.Run(name+" "+full, func(t *testing.T) {
				group, kind, _ := strings.Cut(full, "/")
				version := versions[group]
				if version == "" {
					version = "v1api20231101"
				}
				spec := test.spec
				if strings.HasPrefix(kind, "BackupVaults") {
					spec = strings.Replace(spec, owner, "owner: {armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.DataProtection/backupVaults/v}", 1)
				}
				manifest := "{apiVersion: " + group + "/" + version + ", kind: " + kind + ", metadata: {name: x}, spec: {" + spec + "}}"
				allowed := map[string][]string{all: aso.ListUncheckedKinds(), "group": {group + "/*"}}[test.allowed]
				in := newInput(t, groupManifest, manifest)
				in.UncheckedKinds = allowed
				in.replaceManifests(test.lent, keepManifests)
				errs := append(CheckManifests(in), checkOperatorSpec(in.Manifests()[1])...)
				want := strings.Replace(test.want, "%s", `"`+kind+`"`, 1)
				found := ""
				for _, err := range errs {
					if strings.Contains(err.Error(), "hunter2") {
						t.Errorf("the message contains the password: %s", err)
					}
					if strings.HasPrefix(err.Error(), want) {
						found = err.Error()
					}
				}
				if (want != "") != (len(errs) > 0) || want != "" && found == "" {
					t.Errorf("%s: got %v, want %q", test.reason, errs, want)
				}
				warnings := ListWarnings("ns", toRawExtensions(t, manifest), allowed)
				if (len(warnings) > 0) != (allowed != nil) {
					t.Errorf("%s: the warnings are %q", test.reason, warnings)
				}
			})
		}
	}
}
