package reliability_test

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// identityDocument is a resource beside an AKS cluster.
const identityDocument = `
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: workload
spec:
  location: eastus
  owner: {name: c1}
`

// asoStages returns the stages of an AKS cluster of documents with two pools.
func asoStages() []stage {
	rewritten := func(w *world, object *infrav1.AzureASOManagedControlPlane, from, to string) {
		harness.ChangeObject(w.Stage, object, func(o *infrav1.AzureASOManagedControlPlane) {
			o.Spec.Resources[0].Raw = bytes.Replace(o.Spec.Resources[0].Raw, []byte(from), []byte(to), 1)
		})
	}
	named := metav1.ObjectMeta{Name: "c1"}
	of := func(w *world, pools ...string) *harness.ASOCluster { return w.BuildASOCluster("c1", pools...) }
	ready := func(w *world, pools ...string) {
		w.T.Helper()
		w.WaitUntil("the documents are in place", func() bool { return w.InPlace(of(w, pools...)) })
	}
	return []stage{
		{"create", func(w *world) {
			c := of(w, "pool0", "pool1")
			c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources, w.ParseManifest(identityDocument))
			w.CreateASOCluster(c)
		}},
		{"scale", func(w *world) {
			harness.ChangeObject(w.Stage, virtual.MachinePool("c1-pool1"), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
			w.WaitUntil("the pool has three machines", func() bool {
				pool := &infrav1.AzureASOManagedMachinePool{}
				w.ReadObject(pool, "c1-pool1")
				return len(pool.Spec.ProviderIDList) == 3
			})
			ready(w, "pool0", "pool1")
		}},
		{"change", func(w *world) {
			rewritten(w, &infrav1.AzureASOManagedControlPlane{ObjectMeta: named}, `"dnsPrefix":"c1"`, `"dnsPrefix":"c1","tags":{"team":"a"}`)
			harness.ChangeObject(w.Stage, &infrav1.AzureASOManagedCluster{ObjectMeta: named},
				func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources = o.Spec.Resources[:1] })
			ready(w, "pool0", "pool1")
		}},
		{"upgrade", func(w *world) {
			harness.ChangeObject(w.Stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: named},
				func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Version = nextVersion })
			for _, pool := range []string{"c1-pool0", "c1-pool1"} {
				harness.ChangeObject(w.Stage, virtual.MachinePool(pool), func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = nextVersion })
			}
			w.WaitUntil("the pools run the version", func() bool {
				for _, name := range []string{"pool0", "pool1"} {
					if harness.FindString(w.readResource("resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1/agentPools/"+name),
						"properties.currentOrchestratorVersion") != nextVersion[1:] {
						return false
					}
				}
				return w.InPlace(of(w, "pool0", "pool1"))
			})
		}},
		{"without a pool", func(w *world) { w.removeASOPool("c1-pool1"); ready(w, "pool0") }},
		{"delete", func(w *world) {
			w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: named})
			w.removeASOPool("c1-pool0")
			for _, object := range []client.Object{&infrav1.AzureASOManagedControlPlane{ObjectMeta: named},
				&infrav1.AzureASOManagedCluster{ObjectMeta: named}} {
				w.DeleteObjects(object)
				w.WaitUntilGone(object)
			}
			w.RemoveFinalizers(&clusterv1.Cluster{ObjectMeta: named})
		}},
	}
}

func (w *world) removeASOPool(name string) {
	w.T.Helper()
	pool := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.DeleteObjects(virtual.MachinePool(name), pool)
	w.WaitUntilGone(pool)
	w.RemoveFinalizers(virtual.MachinePool(name))
}
