package bare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestSkippedCommands leaves out commands of the page, one at a time: a condition of the cluster or of its machine names what is missing.
func TestSkippedCommands(t *testing.T) {
	tests := map[string]struct {
		reason, skip string
		want         []string
	}{
		"registration": {
			reason: "Azure refuses requests to a resource provider that is not registered", skip: "az provider register --wait --namespace Microsoft.Network",
			want: []string{"MissingSubscriptionRegistration", "'Microsoft.Network'"},
		},
		"role": {
			reason: "the condition has the action", skip: "az role assignment create --role \"Cluster API Provider Azure: self-managed\"",
			want: []string{"AuthorizationFailed", "does not have authorization to perform action 'Microsoft."},
		},
		"identity of control planes": {
			reason: "the condition has the field and the ID", skip: "cluster-api-control-plane",
			want: []string{"userAssignedIdentities", "cluster-api-control-plane"},
		},
		"trust": {
			reason: "Entra ID's answer has the cause", skip: "az identity federated-credential create",
			want: []string{"AADSTS70025"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			all := pageLines(t, func(heading string) bool {
				return heading != kind && heading != others && heading != deletion && heading != withKind
			})
			lines := slices.DeleteFunc(slices.Clone(all), func(line string) bool {
				return strings.Contains(line, test.skip) || strings.Contains(test.skip, "control-plane") && strings.Contains(line, "CONTROL_PLANE_PRINCIPAL_ID")
			})
			if len(lines) == len(all) {
				t.Fatalf("the page has no command with %s", test.skip)
			}
			in := runCommands(t, lines)
			objects := render(t, "cluster-template.yaml", &in, nil)
			play(t, &in, plan.Features{}, func(s *virtual.Scenario) {
				s.StartProvider()
				s.ApplyManifests(objects)
				s.WaitUntil(test.reason, func() bool {
					text := s.DescribeUnready()
					return !slices.ContainsFunc(test.want, func(part string) bool { return !strings.Contains(text, part) })
				}, s.DescribeUnready)
			})
		})
	}
}

// TestServicePrincipal runs the commands of the page for kind, and creates the default flavor with the client secret, and without its name. A flavor
// that needs an additional role is created after the commands that assign it.
func TestServicePrincipal(t *testing.T) {
	in := runCommands(t, append(pageLines(t, func(heading string) bool {
		return heading != aks && heading != others && heading != deletion && heading != withKind
	}), roleLines(t, "self-managed-machine-pools")...))
	with := render(t, "cluster-template.yaml", &in, map[string]string{"CLUSTER_IDENTITY_TYPE": in.variables["CLUSTER_IDENTITY_TYPE"],
		"AZURE_CLUSTER_IDENTITY_SECRET_NAME": in.variables["AZURE_CLUSTER_IDENTITY_SECRET_NAME"]})
	without := render(t, "cluster-template.yaml", &in, map[string]string{"CLUSTER_IDENTITY_TYPE": in.variables["CLUSTER_IDENTITY_TYPE"]})
	play(t, &in, plan.Features{}, func(s *virtual.Scenario) {
		s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: in.variables["AZURE_CLUSTER_IDENTITY_SECRET_NAME"]},
			Data: map[string][]byte{"clientSecret": []byte(in.variables["AZURE_CLIENT_SECRET"])}})
		s.StartProvider()
		s.ApplyManifests(with)
		s.WaitAllReady()
		checkNothingRefused(s)
	})
	pool := render(t, "cluster-template-machinepool.yaml", &in, map[string]string{"CLUSTER_IDENTITY_TYPE": in.variables["CLUSTER_IDENTITY_TYPE"],
		"AZURE_CLUSTER_IDENTITY_SECRET_NAME": in.variables["AZURE_CLUSTER_IDENTITY_SECRET_NAME"]})
	play(t, &in, plan.Features{}, func(s *virtual.Scenario) {
		s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: in.variables["AZURE_CLUSTER_IDENTITY_SECRET_NAME"]},
			Data: map[string][]byte{"clientSecret": []byte(in.variables["AZURE_CLIENT_SECRET"])}})
		s.StartProvider()
		s.ApplyManifests(pool)
		s.WaitAllReady()
		checkNothingRefused(s)
	})
	play(t, &in, plan.Features{}, func(s *virtual.Scenario) {
		s.StartProvider()
		s.ApplyManifests(without)
		harness.WaitFor(s.Stage, &infrav1.AzureClusterIdentity{}, "cluster-identity", "with a message about the missing object", func(i *infrav1.AzureClusterIdentity) bool {
			ready := harness.FindCondition(i, infrav1.ReadyCondition)
			return ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, "spec.clientSecret.name is empty")
		})
	})
}

// TestMissingVariables renders the default flavor without each variable that has no default.
func TestMissingVariables(t *testing.T) {
	all := flavors.TemplateVariables(nil)
	for _, file := range []string{"cluster-template.yaml", "cluster-template-aks.yaml", "cluster-template-aks-aso.yaml"} {
		_, err := flavors.TryRun(t, nil, "clusterctl", "generate", "yaml", "--from", "templates/"+file)
		if err == nil || !strings.Contains(err.Error(), "value for variables [") || !strings.Contains(err.Error(), "is not set") {
			t.Errorf("%s without variables: %v", file, err)
			continue
		}
		_, names, _ := strings.Cut(err.Error(), "value for variables [")
		names, _, _ = strings.Cut(names, "]")
		for name := range strings.SplitSeq(names, ", ") {
			if _, known := all[name]; !known && name != "ASO_CREDENTIAL_SECRET_NAME" {
				t.Errorf("%s requires %s, which no table of the book has as required", file, name)
			}
		}
	}
}

// TestDeletion runs the commands of the page that delete everything, after all others: nothing is left.
func TestDeletion(t *testing.T) {
	for management, without := range map[string][]string{"AKS": {kind, withKind, others}, "kind": {aks, others}} {
		t.Run(management, func(t *testing.T) {
			lines := pageLines(t, func(heading string) bool { return !slices.Contains(without, heading) })
			checkNothingLeft(t, lines)
		})
	}
}

// checkNothingLeft runs commands, after which Azure is empty.
func checkNothingLeft(t *testing.T, lines []string) {
	t.Helper()
	azure := runCommands(t, lines)
	var left []string
	restored, err := server.New(azureOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	if err := restored.Restore(strings.NewReader(string(azure.snapshot))); err != nil {
		t.Fatal(err)
	}
	for _, resource := range restored.State() {
		left = append(left, resource["id"].(string))
	}
	if diff := cmp.Diff([]string(nil), left); diff != "" {
		t.Errorf("resources after the deletion (-want +got):\n%s", diff)
	}
}

// TestDuration creates the default flavor at the speed of Azure.
func TestDuration(t *testing.T) {
	in := prepare(t, "")
	objects := render(t, "cluster-template.yaml", in, nil)
	playWith(t, in, virtual.Options{Complete: true, Azure: azureOptions()}, func(s *virtual.Scenario) {
		begun := time.Now()
		s.StartProvider()
		s.ApplyManifests(objects)
		s.WaitAllReady()
		took := time.Since(begun)
		t.Logf("commands for Azure took %v, and the cluster was Ready after %v more", in.duration.Round(time.Second), took.Round(time.Second))
		if took > 15*time.Minute {
			t.Errorf("the cluster was Ready after %v, want at most 15 minutes", took)
		}
	})
}
