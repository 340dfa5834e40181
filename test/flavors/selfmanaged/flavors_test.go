package selfmanaged_test

import (
	"errors"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// flavor is one template with its expected result.
type flavor struct {
	reason string
	// variables are those beside the ones that every flavor requires.
	variables map[string]string
	// machines is how many machines there are; 0 is the three of most flavors.
	machines int
	// check checks the resources in Azure.
	check func(*look)
}

// resyncs is how often a cluster that is in order is looked at.
const resyncs = 10

// TestFlavors creates every flavor, leaves it alone for ten resyncs, checks its special resources, and deletes it.
func TestFlavors(t *testing.T) {
	t.Parallel()
	flavors.LogApplies(t)
	for name, test := range table {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := flavors.NewStage(t, environment)
			flavors.CreateIdentities(stage)
			before := flavors.SnapshotAzure(stage)
			objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, templateFile(name), flavors.TemplateVariables(test.variables)))
			if err != nil {
				t.Fatal(err)
			}
			applied := objects
			if name == "topology" {
				class, err := flavors.DecodeManifest(flavors.RenderTemplate(t, templateFile("clusterclass"), flavors.TemplateVariables(test.variables)))
				if err != nil {
					t.Fatal(err)
				}
				// The API server takes the class and the cluster as they are; who makes the objects is Cluster API.
				flavors.SetNamespace(stage, class)
				for _, object := range class {
					if err := errors.Join(flavors.CheckClass(object), flavors.ApplyServerSide(stage, object)); err != nil {
						t.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
					}
				}
				if objects, err = flavors.ApplyTopology(class, objects); err != nil {
					t.Fatal(err)
				}
				applied = append(class, objects...)
			}
			manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: harness.SyncPeriod,
				Flags: []string{"--feature-gates=EdgeZone=true"}})
			cluster := flavors.BringUp(stage, objects)
			want := test.machines
			if want == 0 {
				want = 3
			}
			if len(cluster.Machines) != want {
				t.Errorf("%d machines, want %d: %q", len(cluster.Machines), want, cluster.Machines)
			}
			reads := flavors.QuietAgain(stage, manager, resyncs, applied)
			t.Logf("%d machines: 0 writes and %d reads per resync over %d resyncs", len(cluster.Machines), reads, resyncs)
			flavors.CheckListings(stage, environment.Config)
			if test.check != nil {
				test.check(&look{Stage: stage, cluster: cluster})
			}
			flavors.TearDown(stage, cluster, before)
		})
	}
}
