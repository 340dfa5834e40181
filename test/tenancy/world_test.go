package tenancy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurecluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// operator is the namespace of the identity that is lent.
const operator = "operator"

// world is a tenant's namespace and an operator's identity that the tenant may use.
type world struct {
	*virtual.Scenario
	// extra adds nodes to the plans of a kind; nil adds none.
	extra func(kind string, g *arm.Graph)
	// kinds are the kinds whose plans pass extra.
	kinds []string
}

// newWorld has to be called in a bubble of virtual time.
func newWorld(t *testing.T, grant func(*infrav1.AzureClusterIdentitySpec)) *world {
	t.Helper()
	w := &world{Scenario: virtual.New(t)}
	w.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operator}})
	w.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator, Name: harness.IdentityName},
		Data: map[string][]byte{"clientSecret": []byte(w.Azure.ClientSecret)}})
	identity := w.NewIdentity()
	identity.Namespace, identity.Spec.ClientSecret.Namespace = operator, operator
	identity.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{w.Namespace}}
	if grant != nil {
		grant(&identity.Spec)
	}
	w.CreateObject(identity)
	w.PutAsUser("resourceGroups/theirs", "2021-04-01", map[string]any{"location": "eastus"})
	w.PutAsUser(foreignPath("Microsoft.Compute/disks", "secret"), "2024-03-02",
		map[string]any{"location": "eastus", "sku": map[string]any{"name": "Premium_LRS"},
			"properties": map[string]any{"creationData": map[string]any{"createOption": "Empty"}, "diskSizeGB": 8}})
	w.PutAsUser(foreignPath("Microsoft.Network/privateDnsZones", "corp.example"), "2024-06-01", map[string]any{"location": "global"})
	w.PutAsUser(foreignPath("Microsoft.ManagedIdentity/userAssignedIdentities", "admin"), "2023-01-31", map[string]any{"location": "eastus"})
	return w
}

// foreignPath returns the path of a resource of others in the subscription.
func foreignPath(resourceType, name string) string {
	return "resourceGroups/theirs/providers/" + resourceType + "/" + name
}

// expandID returns the ID of a path in the subscription.
func (w *world) expandID(path string) string {
	return "/subscriptions/" + w.Azure.SubscriptionID + "/" + path
}

// lentReference refers to the operator's identity.
func lentReference() *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "AzureClusterIdentity", Namespace: operator, Name: harness.IdentityName}
}

// planning is a kind whose plans get the extra nodes of the world.
type planning[O reconcile.Object, I any] struct {
	reconcile.Kind[O, I]
	world *world
}

func (k planning[O, I]) Plan(ctx context.Context, turn reconcile.Session, in *I) (*reconcile.Plan, error) {
	planned, err := k.Kind.Plan(ctx, turn, in)
	if err == nil && k.world.extra != nil {
		k.world.extra(k.Declare().Name, planned.Graph)
	}
	return planned, err
}

// startManager starts a manager with all kinds.
func (w *world) startManager() {
	w.T.Helper()
	w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
		workloads := fake.NewClientset()
		workload := func([]byte) (corev1client.ConfigMapsGetter, error) { return workloads.CoreV1(), nil }
		for _, err := range []error{
			registerKind(ctx, w, m, &azurecluster.Kind{Client: m.GetClient(), Facts: m.Facts}),
			registerKind(ctx, w, m, &azuremachine.Kind{Client: m.GetClient(), Facts: m.Facts}),
			registerKind(ctx, w, m, &azuremachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}),
			reconcile.NewLocalRunner(m.Services, &azuremanagedcluster.Kind{Client: m.GetClient()}).SetupWithManager(ctx, m, controllerOptions()),
			registerKind(ctx, w, m, &azuremanagedcontrolplane.Kind{Client: m.GetClient(), Facts: m.Facts, Workload: workload}),
			registerKind(ctx, w, m, &azuremanagedmachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}),
			registerKind(ctx, w, m, &azureasomanagedcluster.Kind{Client: m.GetClient(), Facts: m.Facts}),
			registerKind(ctx, w, m, &azureasomanagedcontrolplane.Kind{Client: m.GetClient(), Facts: m.Facts}),
			registerKind(ctx, w, m, &azureasomanagedmachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func controllerOptions() controller.Options {
	return controller.Options{SkipNameValidation: new(true), MaxConcurrentReconciles: 10}
}

func registerKind[O reconcile.Object, I any, P reconcile.PointerToInput[I]](ctx context.Context, w *world, m *virtual.Manager,
	kind reconcile.Kind[O, I]) error {
	w.kinds = append(w.kinds, kind.Declare().Name)
	return reconcile.NewAzureRunner[O, I, P](m.Services, planning[O, I]{kind, w}).SetupWithManager(ctx, m, controllerOptions())
}

// kindsOf returns the packages below internal/controller that have a text in a file, in the letters of their kinds.
func kindsOf(t *testing.T, text string, all []string) []string {
	t.Helper()
	files, err := filepath.Glob("../../internal/controller/azure*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var out []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		if at := slices.IndexFunc(all, func(kind string) bool { return strings.EqualFold(kind, name) }); at >= 0 {
			name = all[at]
		}
		if strings.Contains(string(source), text) && !strings.HasSuffix(file, "_test.go") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// createNetwork asks for a self-managed cluster.
func (w *world) createNetwork(change func(*infrav1.AzureCluster)) {
	w.T.Helper()
	w.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
		c.Spec.IdentityRef = lentReference()
		if change != nil {
			change(c)
		}
	})
}

// waitProvisioned waits for the network, and then sets the Cluster's status as Cluster API does.
func (w *world) waitProvisioned() {
	w.T.Helper()
	w.WaitReady(&infrav1.AzureCluster{}, "c1")
	w.CopyInfrastructure("c1")
}

// createMachine asks for a machine of it, whose role has the default of the webhook.
func (w *world) createMachine(change func(*infrav1.AzureMachine)) {
	w.T.Helper()
	machine := w.AzureMachine("c1", "m1")
	if change != nil {
		change(machine)
	}
	defaults.FillAzureMachine(machine, "")
	w.CreateMachine(machine, harness.ControlPlane, "")
}

// createPool asks for a pool of it without VMs.
func (w *world) createPool(change func(*infrav1.AzureMachinePool)) {
	w.T.Helper()
	pool := w.AzureMachinePool("c1", "vms")
	pool.Spec.OrchestrationMode = infrav1.UniformOrchestration // as the API server fills it in
	if change != nil {
		change(pool)
	}
	defaults.FillAzureMachinePool(pool, "")
	w.CreatePool(pool, 0)
}

// createAKSCluster asks for an AKS cluster with a pool.
func (w *world) createAKSCluster(change func(*infrav1.AzureManagedControlPlane), changePool func(*infrav1.AzureManagedMachinePool)) {
	w.T.Helper()
	controlPlane := w.ControlPlane("k1")
	controlPlane.Spec.IdentityRef = lentReference()
	if change != nil {
		change(controlPlane)
	}
	defaults.FillAzureManagedControlPlane(controlPlane)
	w.CreateManagedCluster(controlPlane,
		harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1,
			Change: func(p *infrav1.AzureManagedMachinePool) {
				if changePool != nil {
					changePool(p)
				}
				defaults.FillAzureManagedMachinePool(p)
			}})
}

// createASOCluster asks for an AKS cluster of documents.
func (w *world) createASOCluster(change func(*harness.ASOCluster)) {
	w.T.Helper()
	c := w.BuildASOCluster("d1", "pool0")
	c.Infrastructure.Spec.IdentityRef, c.Infrastructure.Spec.SubscriptionID = lentReference(), w.Azure.SubscriptionID
	if change != nil {
		change(c)
	}
	for _, resources := range []*[]runtime.RawExtension{&c.Infrastructure.Spec.Resources, &c.ControlPlane.Spec.Resources,
		&c.Pools[0].Spec.Resources} {
		for i, document := range *resources {
			(*resources)[i].Raw = []byte(strings.ReplaceAll(string(document.Raw),
				`"serviceoperator.azure.com/credential-from":"`+harness.OperatorSecret+`"`, `"a":"b"`))
		}
	}
	w.CreateManifests(c)
}

// emptyObjects has an empty object of each kind and the name of the one that the world makes.
func emptyObjects() map[string]struct {
	object harness.Conditioned
	name   string
} {
	return map[string]struct {
		object harness.Conditioned
		name   string
	}{
		"AzureCluster": {&infrav1.AzureCluster{}, "c1"}, "AzureMachine": {&infrav1.AzureMachine{}, "m1"},
		"AzureMachinePool":            {&infrav1.AzureMachinePool{}, "vms"},
		"AzureManagedControlPlane":    {&infrav1.AzureManagedControlPlane{}, "k1"},
		"AzureManagedMachinePool":     {&infrav1.AzureManagedMachinePool{}, "k1-pool0"},
		"AzureASOManagedCluster":      {&infrav1.AzureASOManagedCluster{}, "d1"},
		"AzureASOManagedControlPlane": {&infrav1.AzureASOManagedControlPlane{}, "d1"},
		"AzureASOManagedMachinePool":  {&infrav1.AzureASOManagedMachinePool{}, "d1-pool0"},
	}
}

// waitStatusContains waits until an object of a kind has all of that in its status.
func (w *world) waitStatusContains(kind string, all ...string) {
	w.T.Helper()
	of := emptyObjects()[kind]
	w.WaitUntil(fmt.Sprintf("%s reports %q", kind, all), func() bool {
		w.ReadObject(of.object, of.name)
		status := harness.EncodeStatus(of.object)
		return !slices.ContainsFunc(all, func(text string) bool { return !strings.Contains(status, text) })
	})
}

// checkNoToken expects that no kubeconfig in the tenant's namespace has a token of the operator's identity.
func (w *world) checkNoToken() {
	w.T.Helper()
	list := &corev1.SecretList{}
	if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
		w.T.Fatal(err)
	}
	for _, secret := range list.Items {
		for key, value := range secret.Data {
			if config, err := clientcmd.Load(value); err == nil {
				for _, user := range config.AuthInfos {
					if user.Token != "" {
						w.T.Errorf("Secret %s has a token under %s", secret.Name, key)
					}
				}
			}
		}
	}
}

// waitReady waits until an object of a kind is Ready.
func (w *world) waitReady(kind string) {
	w.T.Helper()
	of := emptyObjects()[kind]
	w.WaitUntil(kind+" is Ready", func() bool {
		w.ReadObject(of.object, of.name)
		return harness.IsReady(of.object)
	})
}

// touchObject has an object of a kind planned again.
func (w *world) touchObject(kind, value string) {
	w.T.Helper()
	of := emptyObjects()[kind]
	of.object.SetName(of.name)
	harness.ChangeObject[client.Object](w.Stage, of.object, func(o client.Object) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["touched"] = value
		o.SetAnnotations(annotations)
	})
}

// revokeGrants takes the grants of the identity away.
func (w *world) revokeGrants() {
	w.T.Helper()
	identity := &infrav1.AzureClusterIdentity{}
	if err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: operator, Name: harness.IdentityName}, identity); err != nil {
		w.T.Fatal(err)
	}
	before := identity.DeepCopy()
	identity.Spec.AllowedResources, identity.Spec.AllowedRoleScopes = nil, nil
	if err := w.Client.Patch(w.T.Context(), identity, client.MergeFrom(before)); err != nil {
		w.T.Fatal(err)
	}
}

// addPoolTag adds a tag to the spec of the pool.
func (w *world) addPoolTag() {
	w.T.Helper()
	harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "vms"}},
		func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
}
