package clusterapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// TestOwnersOfInfrastructure makes a Cluster own its AzureCluster as ensureOwnerRefAndLabel of Cluster API v1.14 does: as the controller only with a
// topology, so that another program can be the controller without one.
func TestOwnersOfInfrastructure(t *testing.T) {
	type references = []metav1.OwnerReference
	tool := metav1.OwnerReference{APIVersion: "platform.example.com/v1", Kind: "Cluster", Name: "c", UID: "tool", Controller: new(true),
		BlockOwnerDeletion: new(true)}
	plain := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c"}
	controlling := plain
	controlling.Controller, controlling.BlockOwnerDeletion = new(true), new(true)
	for name, test := range map[string]struct {
		reason   string
		topology string
		before   references
		want     references
	}{
		"new":                   {"other programs may become the controller", "", nil, references{plain}},
		"topology":              {"the topology controller has the object", "class", nil, references{controlling}},
		"controller of another": {"the Cluster is an owner beside it", "", references{tool}, references{tool, plain}},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := kubernetes.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
			cluster.Spec.Topology.ClassRef.Name = test.topology
			cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureCluster",
				Name: "c"}
			azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", OwnerReferences: test.before}}
			for _, object := range []client.Object{cluster, azureCluster} {
				if err := server.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := clusterapi.PlayRound(t.Context(), server); err != nil {
					t.Fatal(err)
				}
				if err := server.Get(t.Context(), client.ObjectKeyFromObject(azureCluster), azureCluster); err != nil {
					t.Fatal(err)
				}
				got := azureCluster.OwnerReferences
				for i := range got {
					if got[i].UID == cluster.UID {
						got[i].UID = ""
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: -want +got\n%s", test.reason, diff)
				}
			}
		})
	}
}
