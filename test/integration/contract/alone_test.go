package contract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// askForAllKinds asks for a cluster of each kind, before a manager runs.
func askForAllKinds(w *virtual.Scenario) {
	w.T.Helper()
	w.ApplyNetwork("c1", nil)
	w.ApplyAKSCluster("aks1", 1)
	w.CreateManifests(w.BuildASOCluster("aks2", "pool1"))
}

// readVersions returns the resource versions of all objects of these kinds, by kind and name. Each write changes them.
func readVersions(w *virtual.Scenario, kinds []string) map[string]string {
	w.T.Helper()
	out, all := map[string]string{}, listStored(w)
	for _, kind := range kinds {
		for _, object := range all[kind] {
			out[kind+"/"+object.GetName()] = object.GetResourceVersion()
		}
	}
	return out
}

// TestManagedByOthers leaves the infrastructure objects of all kinds alone that another system manages: nothing of them is written, and of the
// self-managed one nothing is made in Azure.
func TestManagedByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		askForAllKinds(w)
		for kind, name := range map[string]string{"AzureCluster": "c1", "AzureManagedCluster": "aks1", "AzureASOManagedCluster": "aks2"} {
			changeObject(w, kind, name, func(object client.Object) {
				object.SetAnnotations(map[string]string{clusterv1.ManagedByAnnotation: "others"})
			})
		}
		before := readVersions(w, infraClusters)
		w.StartProvider()
		w.WaitReady(&infrav1.AzureManagedControlPlane{}, "aks1")
		virtual.WaitForSignal(nil, 10*time.Minute)
		if len(before) != len(infraClusters) {
			t.Fatalf("only %v are managed by others", before)
		}
		if diff := cmp.Diff(before, readVersions(w, infraClusters)); diff != "" {
			t.Errorf("objects that others manage were written (-before +after):\n%s", diff)
		}
		for _, request := range w.Azure.WritesSince(0) {
			if strings.Contains(request, "resourceGroups/c1") {
				t.Errorf("others manage c1, and %s", request)
			}
		}
	})
}

// externallyManageable are the kinds that other managers may reconcile, with the fields that show Cluster API that an object is ready, in
// the object and in its Cluster.
var externallyManageable = map[string]struct{ name, field, ofCluster string }{
	"AzureCluster":             {"c1", "provisioned", "infrastructureProvisioned"},
	"AzureManagedCluster":      {"aks1", "provisioned", "infrastructureProvisioned"},
	"AzureManagedControlPlane": {"aks1", "controlPlaneInitialized", "controlPlaneInitialized"},
	"AzureASOManagedCluster":   {"aks2", "provisioned", "infrastructureProvisioned"},
}

// TestReadyByOthers lets another manager, which manages an object, show by contract v1beta1 that the object is ready. Cluster API reads
// the current contract, so the provider sets the field of that contract, and changes nothing else of the object. It sets the field
// again if the other manager removes it, until Cluster API has read it.
func TestReadyByOthers(t *testing.T) {
	for kind, is := range externallyManageable {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				askForAllKinds(w)
				changeObject(w, kind, is.name, func(object client.Object) {
					object.SetAnnotations(map[string]string{clusterv1.ManagedByAnnotation: "others"})
				})
				w.StartProvider()
				virtual.WaitForSignal(nil, time.Minute)
				show := func(of client.Object, status map[string]any) {
					raw := map[string]any{"status": status}
					if err := w.Client.Status().Patch(t.Context(), of, client.RawPatch(types.MergePatchType, mustJSON(t, raw))); err != nil {
						t.Fatal(err)
					}
					virtual.WaitForSignal(nil, 5*time.Second)
				}
				object, cluster := &unstructured.Unstructured{}, &clusterv1.Cluster{}
				object.SetGroupVersionKind(infrav1.GroupVersion.WithKind(kind))
				owned := newObject(w, kind, is.name)
				object.SetNamespace(w.Namespace)
				object.SetName(is.name)
				if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
					t.Fatal(err)
				}
				want := object.DeepCopy()
				for field, value := range map[string]any{"ready": true, "initialization": map[string]any{is.field: true}} {
					if err := unstructured.SetNestedField(want.Object, value, "status", field); err != nil {
						t.Fatal(err)
					}
				}
				shown := func(reason string) {
					t.Helper()
					if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
						t.Fatal(err)
					}
					want.SetResourceVersion(object.GetResourceVersion())
					if diff := cmp.Diff(want.Object, object.Object); diff != "" {
						t.Errorf("%s (-want +got):\n%s", reason, diff)
					}
				}
				show(owned, map[string]any{"ready": true})
				shown("Cluster API learns that it is ready")
				show(owned, map[string]any{"initialization": nil})
				shown("the other manager removed a field that it does not know")

				w.ReadObject(cluster, is.name)
				show(cluster, map[string]any{"initialization": map[string]any{is.ofCluster: true}})
				show(owned, map[string]any{"initialization": nil})
				unstructured.RemoveNestedField(want.Object, "status", "initialization")
				shown("Cluster API has read it, so the two managers do not go on changing the field")
			})
		})
	}
}

// labelled are the kinds whose objects have a label of their manager: those that are reconciled, and those that others refer to.
var labelled = slices.Concat(reconciled, []string{"AzureMachineTemplate", "AzureClusterIdentity"})

// TestWatchFilter checks that a manager with --watch-filter leaves the objects of all kinds alone that have another label, also if the
// identity that they share with its own objects or their Namespace changes. It takes them up once they have its own label, notices changes
// of the objects that it makes for them, and leaves them alone from the moment on when they get another one.
func TestWatchFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		askForAllKinds(w)
		w.ApplyMachine("c1", "machine", harness.ControlPlane)
		w.ApplyPool("c1", "pool", 1)
		applyTemplate(w, "c1", "template")
		before := readVersions(w, labelled)
		w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
			m.Services.WatchFilter = "one"
			return virtual.RegisterAll(ctx, m)
		})
		virtual.WaitForSignal(nil, 10*time.Minute)
		checkUntouched(w, "objects without the label", labelled, before, 0)
		changeNamespace(w)
		virtual.WaitForSignal(nil, 10*time.Minute)
		checkUntouched(w, "objects of a Namespace that was changed", labelled, before, 0)
		for _, identity := range listStored(w)["AzureClusterIdentity"] {
			changeObject(w, "AzureClusterIdentity", identity.GetName(), addWatchLabel)
		}
		changeIdentitySecret(w)
		virtual.WaitForSignal(nil, 10*time.Minute)
		users := slices.DeleteFunc(slices.Clone(labelled), func(kind string) bool { return kind == "AzureClusterIdentity" })
		maps.DeleteFunc(before, func(object, _ string) bool { return strings.HasPrefix(object, "AzureClusterIdentity/") })
		checkUntouched(w, "users of an identity that has the label", users, before, 0)
		if made := listAzureJSON(w); len(made) > 0 {
			t.Errorf("objects without the label have the Secrets %q", made)
		}
		all := listStored(w)
		for _, kind := range labelled {
			// The manager makes the VMs of pools.
			if len(all[kind]) == 0 && kind != "AzureMachinePoolMachine" {
				t.Errorf("no %s was left alone", kind)
			}
			for _, object := range all[kind] {
				changeObject(w, kind, object.GetName(), addWatchLabel)
			}
		}
		player := harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
		w.Meanwhile = func() {
			player.PlayOnce(t.Context())
			labelClusterAPI(w)
		}
		w.WaitReady(&infrav1.AzureCluster{}, "c1")
		w.CopyInfrastructure("c1")
		w.WaitUntil("objects with the label are provisioned", func() bool {
			now := listStored(w)
			for _, kind := range reconciled {
				for _, object := range now[kind] {
					if ready, _, _ := unstructured.NestedBool(object.Object, "status", "ready"); !ready {
						return false
					}
				}
				if len(now[kind]) == 0 {
					return false
				}
			}
			return true
		}, func() string { return describeReady(w) })
		w.WaitUntil("each object has its azure.json", func() bool {
			return cmp.Equal(listAzureJSON(w), []string{"machine-azure-json", "pool-azure-json", "template-azure-json"})
		})
		virtual.WaitForSignal(nil, 10*time.Minute)
		checkNoticed(w)

		for kind, objects := range listStored(w) {
			for _, object := range objects {
				changeObject(w, kind, object.GetName(), func(object client.Object) {
					addWatchLabel(object)
					object.GetLabels()[clusterv1.WatchLabel] = "two"
				})
			}
		}
		before, requests := readVersions(w, labelled), len(w.Azure.RequestsSince(0))
		for _, name := range []string{"c1", "aks1", "aks2"} {
			for _, paused := range []bool{true, false} {
				harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}},
					func(cluster *clusterv1.Cluster) { cluster.Spec.Paused = &paused })
				virtual.WaitForSignal(nil, time.Minute)
			}
		}
		virtual.WaitForSignal(nil, 2*time.Hour)
		checkUntouched(w, "objects with the label of another manager", labelled, before, requests)
	})
}

// checkUntouched checks that objects have these versions, and that there are only this number of requests to Azure.
func checkUntouched(w *virtual.Scenario, objects string, kinds []string, versions map[string]string, requests int) {
	w.T.Helper()
	if diff := cmp.Diff(versions, readVersions(w, kinds)); diff != "" {
		w.T.Errorf("%s were written (-before +after):\n%s", objects, diff)
	}
	if sent := w.Azure.RequestsSince(0); len(sent) > requests {
		w.T.Errorf("Azure was asked about %s: %q", objects, sent[requests:])
	}
}

// changeNamespace changes a label of the Namespace, which may decide about the identities that its objects may use.
func changeNamespace(w *virtual.Scenario) {
	w.T.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"a"}}}`))
	if err := w.Client.Patch(w.T.Context(), namespace, patch); err != nil {
		w.T.Fatal(err)
	}
}

// changeIdentitySecret gives the Secrets of all identities the label of the manager, and so wakes the users of the identities.
func changeIdentitySecret(w *virtual.Scenario) {
	w.T.Helper()
	identities := &infrav1.AzureClusterIdentityList{}
	if err := w.Client.List(w.T.Context(), identities, client.InNamespace(w.Namespace)); err != nil {
		w.T.Fatal(err)
	}
	for _, identity := range identities.Items {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: identity.Spec.ClientSecret.Name}}
		harness.ChangeObject(w.Stage, secret, func(secret *corev1.Secret) { addWatchLabel(secret) })
	}
}

// checkNoticed deletes objects that the manager has made. It notices that at once, not at its next sync.
func checkNoticed(w *virtual.Scenario) {
	w.T.Helper()
	for _, name := range listAzureJSON(w) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
		if err := w.Client.Delete(w.T.Context(), secret); err != nil {
			w.T.Fatal(err)
		}
		virtual.WaitForSignal(nil, time.Minute)
		if !slices.Contains(listAzureJSON(w), name) {
			w.T.Errorf("the Secret %s does not exist a minute after it was deleted", name)
		}
	}
	vms := &infrav1.AzureMachinePoolMachineList{}
	if err := w.Client.List(w.T.Context(), vms, client.InNamespace(w.Namespace)); err != nil {
		w.T.Fatal(err)
	}
	for i := range vms.Items {
		name := vms.Items[i].Name
		if err := w.Client.Delete(w.T.Context(), &vms.Items[i]); err != nil {
			w.T.Fatal(err)
		}
		virtual.WaitForSignal(nil, time.Minute)
		machine := &clusterv1.Machine{}
		err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, machine)
		if !apierrors.IsNotFound(err) && machine.DeletionTimestamp.IsZero() {
			w.T.Errorf("the Machine %s exists a minute after its AzureMachinePoolMachine was deleted: %v", name, err)
		}
	}
}

// addWatchLabel gives an object the label of the manager.
func addWatchLabel(object client.Object) {
	labels := map[string]string{clusterv1.WatchLabel: "one"}
	maps.Copy(labels, object.GetLabels())
	object.SetLabels(labels)
}

// labelClusterAPI gives all objects of Cluster API the label, as users and the templates of MachinePools do.
func labelClusterAPI(w *virtual.Scenario) {
	w.T.Helper()
	clusters, machines, pools := &clusterv1.ClusterList{}, &clusterv1.MachineList{}, &clusterv1.MachinePoolList{}
	for _, list := range []client.ObjectList{clusters, machines, pools} {
		if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
			w.T.Fatal(err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			if object.GetLabels()[clusterv1.WatchLabel] != "" {
				return nil
			}
			before := object.DeepCopyObject().(client.Object)
			addWatchLabel(object)
			return w.Client.Patch(w.T.Context(), object, client.MergeFrom(before))
		})
		if err != nil {
			w.T.Fatal(err)
		}
	}
}

// applyTemplate creates an AzureMachineTemplate that a cluster owns, as the topology of a ClusterClass does.
func applyTemplate(w *virtual.Scenario, cluster, name string) {
	w.T.Helper()
	owner := &clusterv1.Cluster{}
	w.ReadObject(owner, cluster)
	template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	if err := controllerutil.SetOwnerReference(owner, template, w.Client.Scheme()); err != nil {
		w.T.Fatal(err)
	}
	template.Spec.Template.Spec = w.AzureMachine(cluster, name).Spec
	w.CreateObject(template)
}

// listAzureJSON returns the names of the Secrets with azure.json, sorted.
func listAzureJSON(w *virtual.Scenario) []string {
	w.T.Helper()
	list, out := &corev1.SecretList{}, []string(nil)
	if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
		w.T.Fatal(err)
	}
	for i := range list.Items {
		if strings.HasSuffix(list.Items[i].Name, "-azure-json") {
			out = append(out, list.Items[i].Name)
		}
	}
	slices.Sort(out)
	return out
}

// describeReady returns the conditions Ready of all objects.
func describeReady(w *virtual.Scenario) string {
	var out []string
	all := listStored(w)
	for _, kind := range reconciled {
		for _, object := range all[kind] {
			ready := checkCondition(object.Object, clusterv1.ReadyCondition, "True")
			out = append(out, fmt.Sprintf("%s %s: %v", kind, object.GetName(), ready))
		}
	}
	return strings.Join(out, "\n")
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// changeObject changes an object of a kind of this provider.
func changeObject(w *virtual.Scenario, kind, name string, do func(client.Object)) {
	w.T.Helper()
	harness.ChangeObject(w.Stage, newObject(w, kind, name), do)
}

// newObject returns an object of a kind of this provider without its content.
func newObject(w *virtual.Scenario, kind, name string) client.Object {
	w.T.Helper()
	made, err := w.Client.Scheme().New(infrav1.GroupVersion.WithKind(kind))
	if err != nil {
		w.T.Fatal(err)
	}
	out := made.(client.Object)
	out.SetNamespace(w.Namespace)
	out.SetName(name)
	return out
}
