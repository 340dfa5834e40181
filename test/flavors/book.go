package flavors

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Block is one fenced block of a page.
type Block struct {
	// Place is file:line, Language what stands after the fence.
	Place, Language, Text string
}

// Folders of docs/book whose manifests are whole clusters.
const (
	SelfManaged = "selfmanaged"
	Neighbours  = "aks/neighbours"
)

// ReadPage returns the text of a page in a folder of docs/book.
func ReadPage(t *testing.T, folder, page string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(RepositoryRoot(t), "docs", "book", folder, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TemplateNames returns the file names of the flavors.
func TemplateNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(RepositoryRoot(t), "templates", "cluster-template*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// PageBlocks returns those of a page in a folder of docs/book.
func PageBlocks(t *testing.T, folder, page string) []Block {
	t.Helper()
	var blocks []Block
	var open *Block
	number := 0
	for line := range strings.Lines(ReadPage(t, folder, page)) {
		number++
		language, fence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case fence && open == nil:
			open = &Block{Place: fmt.Sprintf("%s:%d", page, number), Language: language}
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += line
		}
	}
	if open != nil {
		t.Errorf("%s: the block has no end", open.Place)
	}
	return blocks
}

// PageNames returns the names of the pages in a folder of docs/book.
func PageNames(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(RepositoryRoot(t), "docs", "book", folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// ManifestState is the state that the objects of a manifest reach.
type ManifestState string

// The states.
const (
	// Accepted: the API server and the webhooks take the objects. The provider makes no resources of them, or another
	// manager does.
	Accepted ManifestState = "accepted"
	// Made: cluster and machines are provisioned and Ready, write nothing when they are reconciled again, and leave nothing
	// behind when they are deleted.
	Made ManifestState = "made"
)

// TryManifest brings the manifest of a page as far as it goes. What it leaves out is filled in: a Cluster for an AzureCluster, the
// default cluster c1 for templates, one machine for a template that nothing refers to. look, unless it is nil, sees the
// stage when everything is Ready.
func TryManifest(t *testing.T, environment *harness.Environment, manifest string, look func(*harness.Stage), flags ...string) ManifestState {
	t.Helper()
	objects, err := DecodeManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	stage := NewStage(t, environment)
	CreateIdentities(stage)
	if !IsReconciled(objects) {
		SetNamespace(stage, objects)
		for _, object := range objects {
			if err := errors.Join(CheckClass(object), ApplyServerSide(stage, object)); err != nil {
				t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
			}
		}
		ApplyAgain(stage, objects)
		return Accepted
	}
	CreateBroughtResources(stage)
	before := SnapshotAzure(stage)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: harness.SyncPeriod, Flags: flags})
	manifested := objects
	if !slices.ContainsFunc(objects, isKind("AzureClusterIdentity")) {
		objects = append([]*unstructured.Unstructured{newIdentity()}, objects...)
	}
	if !slices.ContainsFunc(objects, isKind("AzureCluster")) {
		objects = append(slices.Clip(objects), azureCluster("c1"))
	}
	if !slices.ContainsFunc(objects, isKind("Cluster")) {
		name := objects[slices.IndexFunc(objects, isKind("AzureCluster"))].GetName()
		objects = append(slices.Clip(objects), clusterOf(name))
	}
	cluster := BringUp(stage, objects)
	if len(cluster.Machines) > 0 {
		QuietAgain(stage, manager, 2, manifested)
	} else {
		ApplyAgain(stage, manifested)
	}
	if look != nil {
		look(stage)
	}
	TearDown(stage, cluster, before)
	return Made
}

// IsReconciled reports whether the provider makes resources of the objects of a manifest. It leaves alone a cluster that another
// manager owns, and a class that no cluster uses.
func IsReconciled(objects []*unstructured.Unstructured) bool {
	makes := false
	for _, object := range objects {
		switch object.GetKind() {
		case "AzureCluster", "AzureMachineTemplate":
			makes = true
		case "ClusterClass", "AzureClusterTemplate":
			return false
		}
		if _, ok := object.GetAnnotations()[clusterv1.ManagedByAnnotation]; ok {
			return false
		}
	}
	return makes
}

func isKind(name string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool { return o.GetKind() == name }
}

func newIdentity() *unstructured.Unstructured {
	return newObject(infrav1.GroupVersion.String(), "AzureClusterIdentity", "cluster-identity",
		map[string]any{"allowedNamespaces": map[string]any{}})
}

func azureCluster(name string) *unstructured.Unstructured {
	return newObject(infrav1.GroupVersion.String(), "AzureCluster", name, map[string]any{
		"location": "eastus", "subscriptionID": TemplateVariables(nil)["AZURE_SUBSCRIPTION_ID"],
		"identityRef": map[string]any{"apiVersion": infrav1.GroupVersion.String(), "kind": "AzureClusterIdentity", "name": "cluster-identity"},
	})
}

func clusterOf(azureCluster string) *unstructured.Unstructured {
	return newObject(clusterv1.GroupVersion.String(), "Cluster", azureCluster, map[string]any{
		"clusterNetwork":    map[string]any{"pods": map[string]any{"cidrBlocks": []any{"192.168.0.0/16"}}},
		"infrastructureRef": map[string]any{"apiGroup": infrav1.GroupVersion.Group, "kind": "AzureCluster", "name": azureCluster},
	})
}

// ValueText returns the value at a dotted path of a resource as text, as in "properties.subnets.0.name"; "" if there is
// none.
func ValueText(resource any, path string) string {
	for part := range strings.SplitSeq(path, ".") {
		if part == "" {
			break
		}
		switch at := resource.(type) {
		case map[string]any:
			resource = at[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(at) {
				return ""
			}
			resource = at[i]
		default:
			return ""
		}
	}
	if resource == nil {
		return ""
	}
	return fmt.Sprint(resource)
}
