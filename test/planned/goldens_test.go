package planned_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// vmFolders have the golden inputs of self-managed clusters, machines and pools, and goldenFolders those of AKS clusters, too.
var (
	vmFolders     = []string{"../../internal/plan/testdata", "../../internal/plan/pool/testdata"}
	goldenFolders = append(slices.Clone(vmFolders), "../../internal/plan/aks/testdata")
)

// TestPlannedWritesOfGoldens stores the objects of each golden input and checks that the manager makes the writes that a plan has. The
// scenario compares them. A case that the manager refuses has no writes, and neither has its plan.
func TestPlannedWritesOfGoldens(t *testing.T) {
	cases, writing := 0, 0
	for _, folder := range goldenFolders {
		files, err := filepath.Glob(filepath.Join(folder, "*.in.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no golden inputs: %v", folder, err)
		}
		for _, file := range files {
			cases++
			name := strings.Split(filepath.Clean(folder), "/")
			t.Run(name[len(name)-2]+"/"+strings.TrimSuffix(filepath.Base(file), ".in.yaml"), func(t *testing.T) {
				objects := readGolden(t, file)
				options := virtual.Options{AtOnce: true, Azure: server.Options{Seed: 7, Locations: locationsOf(objects)}}
				virtual.PlayWith(t, options, func(s *virtual.Scenario) {
					for _, object := range objects {
						if err := s.Kubernetes.Restore(object); err != nil {
							t.Fatal(err)
						}
					}
					identity := s.NewIdentity()
					identity.Name = "id"
					s.CreateObject(identity)
					bringNetwork(s, objects)
					bringAKSNetwork(s, file, objects)
					wrote := false
					s.WrittenBody = func(_ *http.Request, status int, _ []byte) { wrote = wrote || status < http.StatusBadRequest }
					s.StartProvider()
					virtual.WaitForSignal(nil, 20*time.Minute)
					// Cluster API lets machines and pools begin when the network exists.
					harness.ChangeStatus(s.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *clusterv1.Cluster) {
						c.Status.Initialization.InfrastructureProvisioned = new(true)
					})
					virtual.WaitForSignal(nil, 20*time.Minute)
					if wrote {
						writing++
					}
				})
			})
		}
	}
	t.Logf("%d golden inputs, %d of them with writes", cases, writing)
	if writing < cases*3/4 {
		t.Errorf("%d of %d golden inputs have writes, want three quarters: the others prove nothing", writing, cases)
	}
}

// readDocuments returns the documents of a golden input by kind and name, merged into those of its base.
func readDocuments(t testing.TB, file string) map[string][]byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, document := range bytes.Split(raw, []byte("\n---\n")) {
		encoded, err := yaml.YAMLToJSON(document)
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Kind, Base string
			Metadata   struct{ Name string }
		}
		if err := json.Unmarshal(encoded, &head); err != nil {
			t.Fatal(err)
		}
		out[head.Kind+"/"+head.Metadata.Name] = encoded
		if head.Kind != "" || head.Base == "" {
			continue
		}
		for key, base := range readDocuments(t, filepath.Join(filepath.Dir(file), head.Base+".in.yaml")) {
			if own := out[key]; own == nil {
				out[key] = base
			} else if out[key], err = jsonpatch.MergePatch(base, own); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// readGolden returns the objects of a golden input as Cluster API has them when a manager first sees them.
func readGolden(t *testing.T, file string) (out []client.Object) {
	t.Helper()
	documents, owners := readDocuments(t, file), map[string]*metav1.OwnerReference{}
	kinds := []client.Object{&clusterv1.Cluster{}, &clusterv1.Machine{}, &clusterv1.MachinePool{}, &infrav1.AzureCluster{},
		&infrav1.AzureMachine{}, &infrav1.AzureMachinePool{}, &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedMachinePool{}}
	ownerKinds := map[string]string{"AzureCluster": "Cluster", "AzureManagedControlPlane": "Cluster", "AzureMachine": "Machine",
		"AzureMachinePool": "MachinePool", "AzureManagedMachinePool": "MachinePool"}
	for _, kind := range kinds {
		named := strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", kind), "*v1beta1."), "*v1beta2.")
		for key, raw := range documents {
			if of, _, _ := strings.Cut(key, "/"); of != named {
				continue
			}
			object := kind.DeepCopyObject().(client.Object)
			if err := json.Unmarshal(raw, object); err != nil {
				t.Fatal(err)
			}
			object.GetObjectKind().SetGroupVersionKind(kind.GetObjectKind().GroupVersionKind())
			object.SetNamespace("default")
			object.SetUID(types.UID("golden-" + key))
			object.SetGeneration(1)
			group := "cluster.x-k8s.io/v1beta2"
			owners[key] = &metav1.OwnerReference{APIVersion: group, Kind: named, Name: object.GetName(), UID: object.GetUID(), Controller: new(true)}
			if owner := owners[ownerKinds[named]+"/"+object.GetName()]; owner != nil {
				object.SetOwnerReferences([]metav1.OwnerReference{*owner})
			}
			if named != "Cluster" {
				labels := object.GetLabels()
				if labels == nil {
					labels = map[string]string{}
				}
				labels[clusterv1.ClusterNameLabel] = "c1"
				object.SetLabels(labels)
			}
			out = append(out, completeGolden(object, documents)...)
		}
	}
	slices.SortStableFunc(out, func(a, b client.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out
}

// completeGolden returns an object with the fields that Cluster API sets, and the objects that belong to it.
func completeGolden(object client.Object, documents map[string][]byte) []client.Object {
	out := []client.Object{object}
	secret := func(name *string) {
		if name != nil && *name != "" {
			out = append(out, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: *name, UID: types.UID("golden-" + *name)},
				Data: map[string][]byte{"value": []byte("#cloud-config\n")}})
		}
	}
	switch o := object.(type) {
	case *clusterv1.Cluster:
		o.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureCluster", Name: o.Name}
		if documents["AzureManagedControlPlane/"+o.Name] != nil {
			o.Spec.InfrastructureRef.Kind = "AzureManagedCluster"
			o.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group,
				Kind: "AzureManagedControlPlane", Name: o.Name}
			out = append(out, &infrav1.AzureManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: o.Name, UID: "golden-managed",
				Generation: 1, OwnerReferences: []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: o.Name,
					UID: o.UID, Controller: new(true)}}}})
		}
	case *clusterv1.Machine:
		o.Spec.ClusterName = "c1"
		if o.Spec.Bootstrap.DataSecretName == nil {
			o.Spec.Bootstrap.DataSecretName = new("boot")
		}
		secret(o.Spec.Bootstrap.DataSecretName)
	case *clusterv1.MachinePool:
		o.Spec.ClusterName, o.Spec.Template.Spec.ClusterName = "c1", "c1"
		secret(o.Spec.Template.Spec.Bootstrap.DataSecretName)
	case *infrav1.AzureMachine:
		if o.Spec.SSHPublicKey == "" {
			o.Spec.SSHPublicKey = base64.StdEncoding.EncodeToString([]byte(harness.SSHKey))
		}
	}
	return out
}

// locationsOf returns the regions that objects name.
func locationsOf(objects []client.Object) []string {
	out := []string{"eastus", "westus2"}
	for _, object := range objects {
		switch o := object.(type) {
		case *infrav1.AzureCluster:
			out = append(out, strings.ToLower(strings.ReplaceAll(o.Spec.Location, " ", "")))
		case *infrav1.AzureManagedControlPlane:
			out = append(out, o.Spec.Location)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bringNetwork makes the network of a cluster that uses one of another resource group.
func bringNetwork(s *virtual.Scenario, objects []client.Object) {
	s.T.Helper()
	for _, object := range objects {
		c, is := object.(*infrav1.AzureCluster)
		if !is || c.Spec.NetworkSpec.Vnet.ResourceGroup == "" || c.Spec.NetworkSpec.Vnet.ResourceGroup == c.Spec.ResourceGroup {
			continue
		}
		vnet := c.Spec.NetworkSpec.Vnet
		subnets := map[string]string{}
		for _, subnet := range c.Spec.NetworkSpec.Subnets {
			if len(subnet.CIDRBlocks) > 0 {
				subnets[subnet.Name] = subnet.CIDRBlocks[0]
			}
		}
		if len(vnet.CIDRBlocks) > 0 {
			s.Azure.PutNetwork(vnet.ResourceGroup, vnet.Name, vnet.CIDRBlocks[0], subnets)
		}
	}
}

// bringAKSNetwork makes the network of an AKS cluster that a user brought, as the facts of a golden input show it.
func bringAKSNetwork(s *virtual.Scenario, file string, objects []client.Object) {
	s.T.Helper()
	var input struct {
		Facts struct {
			VNet struct {
				Exists, Owned   bool
				AddressPrefixes []string
				Subnets         map[string][]string
			}
		}
	}
	if raw := readDocuments(s.T, file)["/"]; raw != nil {
		if err := json.Unmarshal(raw, &input); err != nil {
			s.T.Fatal(err)
		}
	}
	seen := input.Facts.VNet
	for _, object := range objects {
		c, is := object.(*infrav1.AzureManagedControlPlane)
		if !is || !seen.Exists || seen.Owned || len(seen.AddressPrefixes) == 0 {
			continue
		}
		subnets := map[string]string{}
		for name, prefixes := range seen.Subnets {
			subnets[name] = prefixes[0]
		}
		s.Azure.PutNetwork(c.Spec.VirtualNetwork.ResourceGroup, c.Spec.VirtualNetwork.Name, seen.AddressPrefixes[0], subnets)
	}
}
