package reliability_test

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/clusters"
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

// documents are the stages of an AKS cluster of documents with two pools.
func documents() []stage {
	rewritten := func(w *world, object *infrav1.AzureASOManagedControlPlane, from, to string) {
		harness.Change(w.Stage, object, func(o *infrav1.AzureASOManagedControlPlane) {
			o.Spec.Resources[0].Raw = bytes.Replace(o.Spec.Resources[0].Raw, []byte(from), []byte(to), 1)
		})
	}
	named := metav1.ObjectMeta{Name: "c1"}
	of := func(w *world, pools ...string) *harness.DocumentCluster { return w.Documents("c1", pools...) }
	ready := func(w *world, pools ...string) {
		w.T.Helper()
		w.Until("the documents are in place", func() bool { return w.InPlace(of(w, pools...)) })
	}
	return []stage{
		{"create", func(w *world) {
			c := of(w, "pool0", "pool1")
			c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources, w.Document(identityDocument))
			w.MakeDocuments(c)
		}},
		{"scale", func(w *world) {
			harness.Change(w.Stage, clusters.MachinePool("c1-pool1"), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
			w.Until("the pool has three machines", func() bool {
				pool := &infrav1.AzureASOManagedMachinePool{}
				w.Get(pool, "c1-pool1")
				return len(pool.Spec.ProviderIDList) == 3
			})
			ready(w, "pool0", "pool1")
		}},
		{"change", func(w *world) {
			rewritten(w, &infrav1.AzureASOManagedControlPlane{ObjectMeta: named}, `"dnsPrefix":"c1"`, `"dnsPrefix":"c1","tags":{"team":"a"}`)
			harness.Change(w.Stage, &infrav1.AzureASOManagedCluster{ObjectMeta: named}, func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources = o.Spec.Resources[:1] })
			ready(w, "pool0", "pool1")
		}},
		{"upgrade", func(w *world) {
			harness.Change(w.Stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: named}, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Version = nextVersion })
			for _, pool := range []string{"c1-pool0", "c1-pool1"} {
				harness.Change(w.Stage, clusters.MachinePool(pool), func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = nextVersion })
			}
			w.Until("the pools run the version", func() bool {
				for _, name := range []string{"pool0", "pool1"} {
					if harness.Find(w.shown("resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1/agentPools/"+name), "properties.currentOrchestratorVersion") != nextVersion[1:] {
						return false
					}
				}
				return w.InPlace(of(w, "pool0", "pool1"))
			})
		}},
		{"without a pool", func(w *world) { w.removeDocumentPool("c1-pool1"); ready(w, "pool0") }},
		{"delete", func(w *world) {
			w.Remove(&clusterv1.Cluster{ObjectMeta: named})
			w.removeDocumentPool("c1-pool0")
			for _, object := range []client.Object{&infrav1.AzureASOManagedControlPlane{ObjectMeta: named}, &infrav1.AzureASOManagedCluster{ObjectMeta: named}} {
				w.Remove(object)
				w.Gone(object)
			}
			w.Release(&clusterv1.Cluster{ObjectMeta: named})
		}},
	}
}

func (w *world) removeDocumentPool(name string) {
	w.T.Helper()
	pool := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.Remove(clusters.MachinePool(name), pool)
	w.Gone(pool)
	w.Release(clusters.MachinePool(name))
}
