package managed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// neighbour has the preparation and the check of a page about a component that is used with a cluster. The page has the manifest.
type neighbour struct {
	// given makes the resources that the page asks its reader to make before.
	given func(*harness.Stage)
	// check checks the resources in Azure that the page is about. inside are the objects that belong into the workload cluster.
	check func(stage *harness.Stage, inside []*unstructured.Unstructured)
}

const (
	ownGroup   = "resourceGroups/my-cluster"
	ownCluster = ownGroup + "/providers/Microsoft.ContainerService/managedClusters/my-cluster"
)

// TestNeighbours takes the cluster of every page about a component that is used with a cluster to its end state: all conditions are true,
// all documents are ready, Azure has the resources that the page is about, nothing is written any more, and nothing is left after the
// deletion.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	pages := flavors.PageNames(t, flavors.Neighbours)
	for name := range neighbours {
		if !slices.Contains(pages, name+".md") {
			t.Errorf("there is no page for the row %s", name)
		}
	}
	for _, page := range pages {
		name := strings.TrimSuffix(page, ".md")
		row, ok := neighbours[name]
		if !ok {
			if page != "README.md" && page != mergedNeighbour {
				t.Errorf("%s has no row", page)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.runNeighbour(t, page)
		})
	}
}

func (n neighbour) runNeighbour(t *testing.T, page string) {
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateOperatorSecret("aso-credential")
	if n.given != nil {
		n.given(stage)
	}
	manifests := 0
	var inside []*unstructured.Unstructured
	for _, block := range flavors.PageBlocks(t, flavors.Neighbours, page) {
		switch {
		case block.Language != "yaml":
		case strings.Contains(block.Text, "kind: AzureASOManagedCluster\n"):
			manifests++
			applyManifest(stage, block.Text)
		default:
			objects, err := flavors.DecodeManifest([]byte(block.Text))
			if err != nil {
				t.Fatalf("%s: %v", block.Place, err)
			}
			inside = append(inside, objects...)
		}
	}
	if manifests != 1 {
		t.Fatalf("%s has %d clusters, want one", page, manifests)
	}
	cluster := stage.PlayManifests("my-cluster", "my-cluster-pool0")
	stage.WaitManifestsReady(cluster)
	checkQuiet(t, stage, manager, 2)
	inOrder(stage)
	written := harness.DropKubeconfigReads(stage.Azure.WritesSince(0))
	if diff := cmp.Diff(slices.Compact(slices.Clone(written)), written); diff != "" {
		t.Errorf("resources that a resource manifest needs have to exist before, so that one write is enough (-once +written):\n%s", diff)
	}
	n.check(stage, inside)
	stage.DeleteManifests(cluster)
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// inOrder checks every condition and document of the cluster.
func inOrder(stage *harness.Stage) {
	stage.T.Helper()
	infrastructure, controlPlane, pool := &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{},
		&infrav1.AzureASOManagedMachinePool{}
	for _, of := range []struct {
		object interface {
			client.Object
			conditions.Getter
		}
		name string
		// said returns the states of the resource manifests.
		said func() []infrav1.ASOResourceStatus
	}{
		{infrastructure, "my-cluster", func() []infrav1.ASOResourceStatus { return infrastructure.Status.Resources }},
		{controlPlane, "my-cluster", func() []infrav1.ASOResourceStatus { return controlPlane.Status.Resources }},
		{pool, "my-cluster-pool0", func() []infrav1.ASOResourceStatus { return pool.Status.Resources }},
	} {
		stage.ReadObject(of.object, of.name)
		for _, condition := range of.object.GetConditions() {
			want := metav1.ConditionTrue
			if condition.Type == "Paused" || condition.Type == "Deleting" {
				want = metav1.ConditionFalse
			}
			if condition.Status != want {
				stage.T.Errorf("%T: %s is %s: %s %s", of.object, condition.Type, condition.Status, condition.Reason, condition.Message)
			}
		}
		if len(of.object.GetConditions()) == 0 || len(of.said()) == 0 {
			stage.T.Errorf("%T has no states", of.object)
		}
		for _, status := range of.said() {
			if !status.Ready {
				stage.T.Errorf("%T: %v is not ready: %s %s", of.object, status.Resource, status.Reason, status.Message)
			}
		}
	}
}

// readText returns a value of a resource of a page's cluster as text; a missing one fails the test.
func readText(stage *harness.Stage, path, version, place string) string {
	stage.T.Helper()
	status, resource := stage.Azure.GetResource(path, version)
	got := formatPlain(harness.FindValue(resource, place))
	if status != 200 || got == "" {
		stage.T.Errorf("%s of %s: %d %q", place, path, status, got)
	}
	return got
}

// compareReferences compares two values that have to lead to each other.
func compareReferences(stage *harness.Stage, what, got, want string) {
	stage.T.Helper()
	if !strings.EqualFold(got, want) || want == "" {
		stage.T.Errorf("%s is %q, want %q", what, got, want)
	}
}

// checkRoleAssigned fails unless a principal has a role at a scope itself.
func checkRoleAssigned(stage *harness.Stage, scope, role, principal string) {
	stage.T.Helper()
	_, list := stage.Azure.GetResource(scope+"/providers/Microsoft.Authorization/roleAssignments", roleVersion)
	items, _ := list["value"].([]any)
	var have []string
	for _, item := range items {
		assignment, _ := item.(body)
		have = append(have, strings.Join([]string{harness.FindString(assignment, "properties.scope"),
			harness.FindString(assignment, "properties.roleDefinitionId"), harness.FindString(assignment, "properties.principalId")}, " "))
	}
	subscription := "/subscriptions/" + stage.Azure.SubscriptionID
	want := fmt.Sprintf("%s/%s %s/providers/Microsoft.Authorization/roleDefinitions/%s %s", subscription, scope, subscription, role, principal)
	if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, want) }) || principal == "" {
		stage.T.Errorf("%q has no role %s at %s, but: %q", principal, role, scope, have)
	}
}

// fullID returns the ID of a path below the subscription of the stage.
func fullID(stage *harness.Stage, path string) string {
	return "/subscriptions/" + stage.Azure.SubscriptionID + "/" + path
}

// madeInside applies an object that the API server of every cluster takes.
func madeInside(stage *harness.Stage, object *unstructured.Unstructured) {
	stage.T.Helper()
	into := object.DeepCopy()
	into.SetNamespace(stage.Namespace)
	if err := stage.Client.Create(stage.T.Context(), into, client.DryRunAll,
		client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		stage.T.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
}

// vaultPrincipal is that of the vault of the page about backups, which the Azure CLI makes.
const vaultPrincipal = "00000000-0000-4000-8000-000000000007"

func backupVault(stage *harness.Stage) {
	stage.CreateObject(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "my-vault"},
		Data: map[string]string{"principalId": vaultPrincipal}})
}
