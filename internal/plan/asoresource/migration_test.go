package asoresource

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ownedKinds is the annotation as the established provider writes it for the documents of migratedInput.
const ownedKinds = "ResourceGroup.v1api20200601.resources.azure.com;ManagedCluster.v1api20251001.containerservice.azure.com;" +
	"ManagedClustersAgentPool.v1api20251001.containerservice.azure.com;VirtualNetwork.v1api20250501.network.azure.com;" +
	"VirtualNetworksSubnet.v1api20250501.network.azure.com;Extension.v1api20241101.kubernetesconfiguration.azure.com"

var objectCreated = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// migratedCluster is a cluster as the established provider has left it. Change it before it is planned.
type migratedCluster struct {
	origin  MigrationOrigin
	created map[arm.ID]time.Time
	tags    map[arm.ID]map[string]string
	// policy is that of the ManagedCluster.
	policy       string
	lentIdentity bool
	// remembered is the stored record of applied paths.
	remembered string
	// without leaves documents of these kinds out.
	without string
}

var (
	vnetID      = arm.NewID("s", "g", types.VirtualNetwork, "v")
	subnetID    = vnetID.Child("subnets", "nodes")
	extensionID = aksID.Extension(types.ClusterExtension, "flux")
	othersID    = arm.NewID("s", "g", types.NATGateway, "others")
)

// newInput returns the input of a plan for the resources of the cluster.
func (e migratedCluster) newInput(t *testing.T) Input {
	t.Helper()
	in := newInput(t, groupManifest, aksManifest,
		`{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedClustersAgentPool, metadata: {name: p}, spec: {owner: {name: mc}, mode: System, vmSize: Standard_D2s_v3}}`,
		`{apiVersion: network.azure.com/v1api20250501, kind: VirtualNetwork, metadata: {name: v}, spec: {owner: {name: g}, location: eastus, addressSpace: {addressPrefixes: [10.0.0.0/8]}}}`,
		`{apiVersion: network.azure.com/v1api20250501, kind: VirtualNetworksSubnet, metadata: {name: nodes}, spec: {owner: {name: v}, addressPrefix: 10.1.0.0/16}}`,
		`{apiVersion: kubernetesconfiguration.azure.com/v1api20241101, kind: Extension, metadata: {name: flux}, spec: {owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}, extensionType: microsoft.flux}}`)
	in.replaceManifests(e.lentIdentity, func(documents []Manifest) []Manifest {
		var out []Manifest
		for _, d := range documents {
			if d.Kind == "ManagedCluster" && e.policy != "" {
				d.Annotations = map[string]string{PolicyAnnotation: e.policy}
			}
			if d.Kind != e.without {
				out = append(out, d)
			}
		}
		return out
	})
	in.Object = &metav1.ObjectMeta{Annotations: map[string]string{infrav1.AppliedAnnotation: `{"applied":` + e.remembered + `}`}}
	in.Origins = map[string]MigrationOrigin{in.ObjectKey: e.origin}
	var items []json.RawMessage
	for id, created := range e.created {
		row := map[string]any{"id": id, "tags": e.tags[id]}
		if !created.IsZero() {
			row["createdTime"] = created.Format("2006-01-02T15:04:05.0000000Z")
		}
		raw, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, raw)
		in.Facts[id.Key()] = raw
	}
	for _, id := range []arm.ID{poolID, subnetID, extensionID} {
		in.Facts[id.Key()] = json.RawMessage(`{}`)
	}
	in.ListedResources = ReadListedResources(items)
	return in
}

// TestMigratedResourcesAreDivided divides the resources of a cluster of the established provider into those that are deleted with its
// object and those that stay. The annotation of the object is the same in all cases but two: it is never the proof.
func TestMigratedResourcesAreDivided(t *testing.T) {
	all := []arm.ID{groupID, aksID, poolID, vnetID, subnetID, extensionID}
	after, before := objectCreated.Add(time.Minute), objectCreated.Add(-time.Minute)
	owner := infrav1.ClusterTagKey("other")
	for name, test := range map[string]struct {
		reason           string
		change           func(e *migratedCluster)
		proven, unproven []arm.ID
	}{
		"created": {reason: "Azure created all of it after the object, so it was created for the object", proven: all},
		"no annotation": {reason: "an object without the annotation belongs to this provider, which adopted the resources that it did not tag",
			change: func(e *migratedCluster) { e.origin.OwnedKinds = "" }},
		"forged": {reason: "a user writes the annotation on a new object that names an existing cluster",
			change: func(e *migratedCluster) { e.origin.Created = objectCreated.Add(time.Hour) }, unproven: all},
		"adopted": {reason: "an AKS cluster that is older than its object was adopted; resources below it do not belong to the object either, " +
			"and the group contains it",
			change: func(e *migratedCluster) { e.created[aksID] = before }, proven: []arm.ID{vnetID, subnetID},
			unproven: []arm.ID{groupID, aksID, poolID, extensionID}},
		"in the same second": {reason: "creationTimestamp is cut to seconds, so the order is not known",
			change: func(e *migratedCluster) { e.created[vnetID] = objectCreated.Add(900 * time.Millisecond) },
			proven: []arm.ID{aksID, poolID, extensionID}, unproven: []arm.ID{groupID, vnetID, subnetID}},
		"no time": {reason: "a list without times proves nothing",
			change: func(e *migratedCluster) { e.created[groupID] = time.Time{} },
			proven: []arm.ID{aksID, poolID, vnetID, subnetID, extensionID}, unproven: []arm.ID{groupID}},
		"detached": {reason: "a cluster that is to stay keeps its pools, its extensions and its group, as the user has it",
			change: func(e *migratedCluster) { e.policy = PolicyDetach }, proven: []arm.ID{vnetID, subnetID}},
		"skipped": {reason: "a cluster that is only read keeps its pools, its extensions and its group, as the user has it",
			change: func(e *migratedCluster) { e.policy = PolicySkip }, proven: []arm.ID{vnetID, subnetID}},
		"of another cluster": {reason: "the tag of another cluster decides, also for resources below it, and keeps the group",
			change: func(e *migratedCluster) { e.tags[aksID] = map[string]string{owner: infrav1.TagOwned} },
			proven: []arm.ID{vnetID, subnetID}, unproven: []arm.ID{groupID}},
		"given up": {reason: "the user has the network stay, so the group stays as well",
			change: func(e *migratedCluster) { e.tags[vnetID] = map[string]string{infrav1.ClusterTagKey("c1"): "shared"} },
			proven: []arm.ID{aksID, poolID, extensionID}, unproven: []arm.ID{groupID}},
		"handed over": {reason: "the cluster's own tag decides: the engine deletes by it",
			change: func(e *migratedCluster) {
				e.created[groupID], e.tags[groupID] = before, map[string]string{infrav1.ClusterTagKey("c1"): infrav1.TagOwned}
			}, proven: []arm.ID{aksID, poolID, vnetID, subnetID, extensionID}},
		"another kind": {reason: "the established provider did not apply the extension, so another program created it",
			change: func(e *migratedCluster) {
				e.origin.OwnedKinds = ownedKinds[:len(ownedKinds)-len(";Extension.v1api20241101.kubernetesconfiguration.azure.com")]
			}, proven: []arm.ID{groupID, aksID, poolID, vnetID, subnetID}},
		"malformed": {reason: "entries that cannot be read list no kind",
			change: func(e *migratedCluster) { e.origin.OwnedKinds = "ManagedCluster;.;ManagedCluster.v1;;x.y.z" }},
		"lent identity": {reason: "an identity of another namespace reaches resources of others",
			change: func(e *migratedCluster) { e.lentIdentity = true }, unproven: all},
		"others in the group": {reason: "a group with resources of others stays",
			change: func(e *migratedCluster) { e.created[othersID] = after },
			proven: []arm.ID{aksID, poolID, vnetID, subnetID, extensionID}, unproven: []arm.ID{groupID}},
		"document taken out": {reason: "a resource of a removed document goes as long as it is recorded",
			change: func(e *migratedCluster) {
				e.without = "VirtualNetworksSubnet"
				e.remembered = `{"g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes":["/properties/addressPrefix"]}`
			}, proven: all},
		"object without time": {reason: "an object that is not stored yet proves nothing",
			change: func(e *migratedCluster) { e.origin.Created = time.Time{} }, unproven: all},
	} {
		t.Run(name, func(t *testing.T) {
			e := migratedCluster{origin: MigrationOrigin{Created: objectCreated, OwnedKinds: ownedKinds},
				created: map[arm.ID]time.Time{groupID: after, aksID: after, vnetID: after}, tags: map[arm.ID]map[string]string{}}
			if test.change != nil {
				test.change(&e)
			}
			proven, unproven := SplitMigrated(e.newInput(t))
			if diff := cmp.Diff([2]string{sortedNames(test.proven), sortedNames(test.unproven)},
				[2]string{sortedNames(proven), sortedNames(unproven)}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func sortedNames(ids []arm.ID) string {
	names := map[string]bool{}
	for _, id := range ids {
		names[id.Key()] = true
	}
	return fmt.Sprint(names)
}
