package refused_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// checkedNeighbors are the resources that manifests of uncheckedKinds refer to.
var checkedNeighbors = []string{`
apiVersion: operationalinsights.azure.com/v1api20230901
kind: Workspace
metadata:
  name: logs
spec:
  location: eastus
  owner: {name: c1}
`, `
apiVersion: monitor.azure.com/v1api20230403
kind: Account
metadata:
  name: metrics
spec:
  location: eastus
  owner: {name: c1}
`}

// uncheckedKind is a kind without a definition.
type uncheckedKind struct {
	manifest string
	// path is the resource below the group c1, property a property in Azure with the value of a reference, "" for none.
	path, property, refersTo string
	// before and after are a change of the manifest, and changed the property in Azure that has the second value.
	before, after, changed string
	// isTagged means that the resource has tags of its own.
	isTagged bool
}

const backupVaults = "Microsoft.DataProtection/backupVaults/vault"

// uncheckedKinds are all kinds without a definition.
var uncheckedKinds = map[string]uncheckedKind{
	"alertsmanagement.azure.com/PrometheusRuleGroup": {`
apiVersion: alertsmanagement.azure.com/v1api20230301
kind: PrometheusRuleGroup
metadata:
  name: alerts
spec:
  location: eastus
  owner: {name: c1}
  interval: PT1M
  scopesReferences:
  - {group: monitor.azure.com, kind: Account, name: metrics}
  rules:
  - {alert: Down, expression: up == 0, for: PT5M}
`, "Microsoft.AlertsManagement/prometheusRuleGroups/alerts", "properties.scopes", "Microsoft.Monitor/accounts/metrics", "PT1M", "PT2M", "properties.interval", true},
	"authorization.azure.com/PolicyAssignment": {`
apiVersion: authorization.azure.com/v1api20240501
kind: PolicyAssignment
metadata:
  name: baseline
spec:
  owner: {group: resources.azure.com, kind: ResourceGroup, name: c1}
  displayName: first
  policyDefinitionId: /providers/Microsoft.Authorization/policySetDefinitions/a8640138-9b0a-4a28-b8cb-1666c838647d
  parameters:
    effect: {value: audit}
`, "Microsoft.Authorization/policyAssignments/baseline", "", "", "first", "second", "properties.displayName", false},
	"dashboard.azure.com/Grafana": {`
apiVersion: dashboard.azure.com/v1api20230901
kind: Grafana
metadata:
  name: boards
spec:
  location: eastus
  owner: {name: c1}
  identity: {type: SystemAssigned}
  sku: {name: Standard}
  apiKey: Disabled
  grafanaIntegrations:
    azureMonitorWorkspaceIntegrations:
    - azureMonitorWorkspaceResourceReference: {group: monitor.azure.com, kind: Account, name: metrics}
`, "Microsoft.Dashboard/grafana/boards", "", "", "apiKey: Disabled", "apiKey: Enabled", "properties.apiKey", true},
	"dataprotection.azure.com/BackupVault": {`
apiVersion: dataprotection.azure.com/v1api20231101
kind: BackupVault
metadata:
  name: vault
spec:
  location: eastus
  owner: {name: c1}
  identity: {type: SystemAssigned}
  properties:
    featureSettings: {crossRegionRestoreSettings: {state: Disabled}}
    storageSettings:
    - {datastoreType: VaultStore, type: LocallyRedundant}
`, backupVaults, "", "", "state: Disabled", "state: Enabled", "properties.featureSettings.crossRegionRestoreSettings.state", true},
	"dataprotection.azure.com/BackupVaultsBackupPolicy": {`
apiVersion: dataprotection.azure.com/v1api20231101
kind: BackupVaultsBackupPolicy
metadata:
  name: daily
spec:
  owner: {name: vault}
  properties:
    objectType: BackupPolicy
    datasourceTypes: [first]
    policyRules:
    - {name: Default, objectType: AzureRetentionRule, isDefault: true}
`, backupVaults + "/backupPolicies/daily", "", "", "[first]", "[second]", "properties.datasourceTypes", false},
	"dataprotection.azure.com/BackupVaultsBackupInstance": {`
apiVersion: dataprotection.azure.com/v1api20231101
kind: BackupVaultsBackupInstance
metadata:
  name: metrics
spec:
  owner: {name: vault}
  properties:
    objectType: BackupInstance
    friendlyName: first
    dataSourceInfo:
      objectType: Datasource
      resourceReference: {group: monitor.azure.com, kind: Account, name: metrics}
    policyInfo:
      policyReference: {group: dataprotection.azure.com, kind: BackupVaultsBackupPolicy, name: daily}
`, backupVaults + "/backupInstances/metrics", "properties.policyInfo.policyId", backupVaults + "/backupPolicies/daily",
		"first", "second", "properties.friendlyName", false},
	"insights.azure.com/DiagnosticSetting": {`
apiVersion: insights.azure.com/v1api20210501preview
kind: DiagnosticSetting
metadata:
  name: audit
spec:
  owner: {group: monitor.azure.com, kind: Account, name: metrics}
  logAnalyticsDestinationType: first
  workspaceReference: {group: operationalinsights.azure.com, kind: Workspace, name: logs}
  logs:
  - {categoryGroup: audit, enabled: true}
`, "Microsoft.Monitor/accounts/metrics/providers/Microsoft.Insights/diagnosticSettings/audit", "properties.workspaceId",
		"Microsoft.OperationalInsights/workspaces/logs", "first", "second", "properties.logAnalyticsDestinationType", false},
}

// addManifests appends manifests to the AzureASOManagedCluster.
func addManifests(s *virtual.Scenario, c *harness.ASOCluster, manifests ...string) {
	for _, manifest := range manifests {
		c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources, s.ParseManifest(manifest))
	}
}

func allUnchecked() plan.Features { return plan.Features{UncheckedASOKinds: aso.ListUncheckedKinds()} }

func azureASOManagedCluster() *infrav1.AzureASOManagedCluster {
	return &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
}

// TestUncheckedKinds applies manifests of all kinds without a definition, which the manager allows. It expects that the resources are
// created with their references, that nothing is written while nothing changes, that each change is one request, and that the resources of
// removed manifests are deleted.
func TestUncheckedKinds(t *testing.T) {
	names := slices.Sorted(maps.Keys(uncheckedKinds))
	if diff := cmp.Diff(aso.ListUncheckedKinds(), names); diff != "" {
		t.Fatalf("kinds of the flag (-want), of the story (+got):\n%s", diff)
	}
	virtual.PlayWith(t, virtual.Options{Features: allUnchecked(), Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		s.StartProvider()
		c := s.BuildASOCluster("c1", "pool0")
		addManifests(s, c, checkedNeighbors...)
		for _, name := range names {
			addManifests(s, c, uncheckedKinds[name].manifest)
		}
		s.CreateASOCluster(c)
		const group = "resourceGroups/c1/providers/"
		for name, kind := range uncheckedKinds {
			resource := s.ReadResource(group + kind.path)
			if kind.property != "" {
				if got := fmt.Sprint(s.FindProperty(group+kind.path, kind.property)); !strings.HasSuffix(strings.Trim(got, "[]"), kind.refersTo) {
					t.Errorf("%s: %s is %s, want the ID of %s", name, kind.property, got, kind.refersTo)
				}
			}
			tags, _ := resource["tags"].(map[string]any)
			if _, tagged := tags[infrav1.ClusterTagKey("c1")]; tagged != kind.isTagged {
				t.Errorf("%s: the tags are %v", name, tags)
			}
		}
		object := azureASOManagedCluster()
		s.ReadObject(object, "c1")
		condition := harness.FindCondition(object, infrav1.ManifestsCheckedCondition)
		if condition.Status != metav1.ConditionFalse || condition.Reason != infrav1.DefinitionMissingReason ||
			!strings.Contains(condition.Message, "Grafana boards") || strings.Contains(condition.Message, "Workspace") {
			t.Errorf("ManifestsChecked is %s, %s, %s", condition.Status, condition.Reason, condition.Message)
		}

		mark := s.Azure.MarkRequests()
		virtual.WaitForSignal(nil, 3*time.Hour)
		if writes := harness.DropKubeconfigReads(s.Azure.WritesSince(mark)); len(writes) > 0 {
			t.Errorf("nothing changed, and these were written: %q", writes)
		}

		mark = s.Azure.MarkRequests()
		harness.ChangeObject(s.Stage, object, func(o *infrav1.AzureASOManagedCluster) {
			for i := range o.Spec.Resources {
				for _, kind := range uncheckedKinds {
					before, after := s.ParseManifest(kind.manifest), s.ParseManifest(strings.Replace(kind.manifest, kind.before, kind.after, 1))
					if bytes.Equal(o.Spec.Resources[i].Raw, before.Raw) {
						o.Spec.Resources[i] = after
					}
				}
			}
		})
		s.WaitUntil("the changes are in place", func() bool { return s.InPlace(c) })
		s.WaitQuiet()
		var want []string
		for name, kind := range uncheckedKinds {
			want = append(want, "PUT resourceGroups/c1/"+kind.path)
			value := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(kind.after, "state: "), "apiKey: "), "[]")
			if got := strings.Trim(fmt.Sprint(s.FindProperty(group+kind.path, kind.changed)), "[]"); got != value {
				t.Errorf("%s: %s is %s, want %s", name, kind.changed, got, value)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, harness.DropKubeconfigReads(s.Azure.WritesSince(mark))); diff != "" {
			t.Errorf("writes of one change per resource (-want +got):\n%s", diff)
		}

		harness.ChangeObject(s.Stage, object, func(o *infrav1.AzureASOManagedCluster) {
			o.Spec.Resources = slices.DeleteFunc(o.Spec.Resources, func(r runtime.RawExtension) bool {
				return slices.ContainsFunc(slices.Collect(maps.Values(uncheckedKinds)), func(kind uncheckedKind) bool {
					return bytes.Equal(r.Raw, s.ParseManifest(strings.Replace(kind.manifest, kind.before, kind.after, 1)).Raw)
				})
			})
		})
		for name, kind := range uncheckedKinds {
			s.WaitUntil(name+" is deleted", func() bool {
				_, found := s.FindResource(group + kind.path)
				return !found
			})
		}
		s.WaitUntil("the rest is in place", func() bool { return s.InPlace(c) })
		s.ReadObject(object, "c1")
		if condition := harness.FindCondition(object, infrav1.ManifestsCheckedCondition); condition.Type != "" {
			t.Errorf("all manifests are checked, and ManifestsChecked is %s: %s", condition.Status, condition.Message)
		}
		s.DeleteManifests(c)
	})
}

// TestUncheckedKindsOfBook creates the resources of the page about kinds without a definition. Its table lists the kinds of the flag.
func TestUncheckedKindsOfBook(t *testing.T) {
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "aks", "resource-manifests.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Kinds without a definition\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.SplitSeq(section, "\n") {
		if cells := strings.Split(line, "`"); strings.HasPrefix(line, "| `") && len(cells) == 5 {
			group, kind, _ := strings.Cut(cells[1], "/")
			if resourceType, _ := aso.ResourceTypeOf(group, kind); resourceType != cells[3] {
				t.Errorf("%s is %s, and not %s", cells[1], resourceType, cells[3])
			}
			rows = append(rows, cells[1])
		}
	}
	if diff := cmp.Diff(aso.ListUncheckedKinds(), rows); diff != "" {
		t.Errorf("kinds of the flag (-want), of the table (+got):\n%s", diff)
	}
	_, block, _ := strings.Cut(section, "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	virtual.PlayWith(t, virtual.Options{Features: plan.Features{UncheckedASOKinds: []string{"dashboard.azure.com/*"}}, Azure: server.Options{Seed: 7}},
		func(s *virtual.Scenario) {
			s.StartProvider()
			c := s.BuildASOCluster("my-cluster", "pool0")
			var items []any
			if err := yaml.UnmarshalStrict([]byte(block), &items); err != nil || len(items) != 2 {
				t.Fatalf("%v: %s", err, block)
			}
			for _, item := range items {
				raw, err := yaml.Marshal(item)
				if err != nil {
					t.Fatal(err)
				}
				addManifests(s, c, string(raw))
			}
			s.CreateASOCluster(c)
			if _, found := s.FindResource("resourceGroups/my-cluster/providers/Microsoft.Dashboard/grafana/my-dashboards"); !found {
				t.Error("the page's Grafana does not exist")
			}
		})
}

// TestUncheckedKindsRefused applies manifests of kinds without a definition, which the manager does not allow. It expects that the API
// server refuses each of them with the flag, the way to add a definition, and similar kinds; an allowed kind gets a warning.
func TestUncheckedKindsRefused(t *testing.T) {
	virtual.PlayWith(t, virtual.Options{Complete: true, Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		s.CreateIdentity()
		s.StartProvider()
		refusal := func(manifest string) string {
			c := s.BuildASOCluster("c1")
			addManifests(s, c, manifest)
			err := s.Client.Create(t.Context(), c.Infrastructure)
			if err == nil {
				t.Fatalf("not refused: %s", manifest)
			}
			return err.Error()
		}
		for name, kind := range uncheckedKinds {
			got := refusal(kind.manifest)
			for _, part := range []string{"spec.resources[1].kind: Invalid value", "no definition of ",
				"--unchecked-aso-kinds=" + name + ".", `"Add definitions of Azure" in docs/book/aks/resource-manifests.md`} {
				if !strings.Contains(got, part) {
					t.Errorf("%s: the refusal does not have %q: %s", name, part, got)
				}
			}
		}
		if got := refusal(uncheckedKinds["insights.azure.com/DiagnosticSetting"].manifest); !strings.Contains(got,
			"Most similar kinds with a definition: insights.azure.com/DataCollection") {
			t.Errorf("no similar kinds: %s", got)
		}
		unknown := strings.NewReplacer("dashboard", "cache", "Grafana", "Redis").Replace(uncheckedKinds["dashboard.azure.com/Grafana"].manifest)
		if got := refusal(unknown); !strings.Contains(got, "no definition of Redis of cache.azure.com") ||
			!strings.Contains(got, "only accepts alertsmanagement.azure.com/PrometheusRuleGroup, ") {
			t.Errorf("a kind that the flag does not know: %s", got)
		}
	})
}

// TestUncheckedKindsOfLentIdentity applies manifests of allowed kinds with an AzureClusterIdentity of another namespace; it expects that
// nothing is written for an object with any of them.
func TestUncheckedKindsOfLentIdentity(t *testing.T) {
	for name, kind := range uncheckedKinds {
		t.Run(name, func(t *testing.T) {
			virtual.PlayWith(t, virtual.Options{Features: allUnchecked(), Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
				s.StartProvider()
				identity := s.NewIdentity()
				identity.Namespace, identity.Spec.ClientSecret.Namespace = "owners", "owners"
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "owners", Name: harness.IdentityName},
					Data: map[string][]byte{"clientSecret": []byte(s.Azure.ClientSecret)}}
				s.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "owners"}})
				s.CreateObject(secret)
				s.CreateObject(identity)
				c := s.BuildASOCluster("c1", "pool0")
				addManifests(s, c, kind.manifest)
				for i := range c.Infrastructure.Spec.Resources {
					raw := &c.Infrastructure.Spec.Resources[i].Raw
					*raw = bytes.Replace(*raw, []byte(`"annotations":{"serviceoperator.azure.com/credential-from":"`+harness.OperatorSecret+`"},`), nil, 1)
				}
				c.Infrastructure.Spec.IdentityRef, c.Infrastructure.Spec.SubscriptionID = harness.IdentityRef(), s.Azure.SubscriptionID
				c.Infrastructure.Spec.IdentityRef.Namespace = "owners"
				mark := s.Azure.MarkRequests()
				s.CreateManifests(c)
				object := azureASOManagedCluster()
				s.WaitUntil("the refusal is shown", func() bool {
					s.ReadObject(object, "c1")
					return harness.FindCondition(object, infrav1.ResourcesReadyCondition).Reason == infrav1.NotSupportedReason
				})
				got := harness.FindCondition(object, infrav1.ResourcesReadyCondition).Message
				if !strings.Contains(got, "spec.resources[1].kind") || !strings.Contains(got, "With an AzureClusterIdentity of another namespace such manifests are refused") {
					t.Errorf("the condition does not have the reason: %s", got)
				}
				virtual.WaitForSignal(nil, time.Hour)
				if writes := s.Azure.WritesSince(mark); len(writes) > 0 {
					t.Errorf("these were written: %q", writes)
				}
			})
		})
	}
}
