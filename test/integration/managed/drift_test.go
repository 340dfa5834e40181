package managed_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// reaction is the expected reaction to a change that another program makes in Azure.
type reaction string

const (
	// repaired means that the cluster's own value is written back.
	repaired reaction = "repaired"
	// kept means that nothing is written: the spec does not set the value, or the value belongs to AKS or another program.
	kept reaction = "kept"
	// reported means that nothing is written and the objects show it.
	reported reaction = "reported"
)

const (
	vnetPath   = "resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1"
	subnetPath = vnetPath + "/subnets/c1"
	pool1Path  = clusterPath + "/agentPools/pool1"
	pool1Put   = clusterPut + "/agentPools/pool1"
)

// changeInAzure changes a resource as a user of Azure would: it is read, changed and written whole.
func changeInAzure(path, version string, change func(resource body)) func(*harness.Stage) {
	return func(stage *harness.Stage) {
		stage.T.Helper()
		status, have := stage.Azure.GetResource(path, version)
		if status != 200 {
			stage.T.Fatalf("GET %s: %d", path, status)
		}
		change(have)
		stage.Azure.PutResource(path, version, have)
	}
}

// setValue sets the value at a dotted path of a resource.
func setValue(at string, value any) func(body) {
	return func(resource body) {
		parts := strings.Split(at, ".")
		for _, part := range parts[:len(parts)-1] {
			below, _ := resource[part].(body)
			if below == nil {
				below = body{}
				resource[part] = below
			}
			resource = below
		}
		resource[parts[len(parts)-1]] = value
	}
}

// readValue returns the value at a dotted path of a resource as JSON; "null" when there is none.
func readValue(stage *harness.Stage, path, version, at string) string {
	_, have := stage.Azure.GetResource(path, version)
	raw, _ := json.Marshal(harness.FindValue(have, at)) // It was JSON.
	return string(raw)
}

// ownTag is the ownership tag of the cluster c1.
const ownTag = "sigs.k8s.io_cluster-api-provider-azure_cluster_c1"

// driftRow is one change in Azure.
type driftRow struct {
	// resource, change and note are those of the book.
	resource, change, note string
	outside                func(*harness.Stage)
	reaction               reaction
	// path, version and at are where the value is to be seen that the row is about, want is its JSON in the end.
	path, version, at, want string
	// writes are those of a repair.
	writes []string
	// says checks that an object shows the change.
	says func(*harness.Stage) bool
}

// TestDrift changes a cluster, its pools and their resources in Azure, past the provider. Every row has the expected reaction to its
// change; no reaction is left open.
func TestDrift(t *testing.T) {
	t.Parallel()
	virtual.PlayRows(t, play, playDrift)
}

func playDrift(s *virtual.Scenario, played *virtual.Rows) {
	t, stage := s.T, s.Stage
	s.StartProvider()
	fleet(stage)
	stage.CreateIdentity()
	own := stage.ControlPlane("c1")
	equipControlPlane(stage, own)
	own.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
	own.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{"203.0.113.0/24"}}
	stage.CreateManagedCluster(own, pools[0],
		harness.ManagedPool{Name: "pool1", Mode: "User", Replicas: 2, Change: func(p *infrav1.AzureManagedMachinePool) {
			p.Spec.NodeLabels = map[string]string{"tier": "web"}
			// A pool with mode System, which the pool becomes below, can have this taint.
			p.Spec.Taints = infrav1.Taints{{Key: "dedicated", Value: "web", Effect: "PreferNoSchedule"}}
			p.Spec.AdditionalTags = infrav1.Tags{"pool": "web"}
		}})
	stage.WaitManagedClusterReady("c1", pools...)
	playDriftRows(s, played, listDriftRows())
	if got := readValue(stage, subnetPath, networkVersion, "properties.networkSecurityGroup.id"); !strings.HasSuffix(got, `theirs"`) {
		t.Errorf("the security group on the subnet is %s in the end, want the one that was put there", got)
	}
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	want := append([]string{sharedGroup, sharedGroup + "/Microsoft.ContainerService/fleets/fleet"}, networkGroup,
		networkGroup+"/Microsoft.Network/networkSecurityGroups/theirs")
	slices.Sort(want)
	if diff := cmp.Diff(want, stage.Azure.ListResources()); diff != "" {
		t.Errorf("only what others made is left (-want +got):\n%s", diff)
	}
}

// playDriftRows makes the changes one after the other.
func playDriftRows(s *virtual.Scenario, played *virtual.Rows, rows []driftRow) {
	stage := s.Stage
	for i, row := range rows {
		played.Play(fmt.Sprintf("%02d %s", i, row.resource+": "+row.change), func() {
			t := s.T
			mark := stage.Azure.MarkRequests()
			row.outside(stage)
			stage.ResyncManaged()
			stage.Eventually(row.at+" is "+row.want, func() bool { return readValue(stage, row.path, row.version, row.at) == row.want })
			if row.says != nil {
				stage.Eventually("the objects show it", func() bool { stage.ResyncManaged(); return row.says(stage) })
			}
			stage.ResyncManaged()
			if got := readValue(stage, row.path, row.version, row.at); got != row.want {
				t.Errorf("%s: %s is %s in the end, want %s", row.reaction, row.at, got, row.want)
			}
			want := slices.Clone(row.writes)
			if row.reaction != repaired {
				want = []string{}
			}
			if diff := cmp.Diff(want, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", row.reaction, diff)
			}
		})
	}
}
