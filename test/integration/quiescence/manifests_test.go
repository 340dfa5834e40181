package quiescence_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const poolManifest = `
apiVersion: containerservice.azure.com/v1api20251001
kind: ManagedClustersAgentPool
metadata:
  name: pool0
spec:
  owner: {name: c1}
  mode: System
  type: VirtualMachineScaleSets
  vmSize: Standard_D2s_v3
`

// library is a world with the documents of one Cluster.
type library struct {
	*world
	in        asoresource.Input
	inventory []arm.ID
}

// TestQuiescenceManifests applies a resource manifest of every type that AKS clusters are used with. It expects that all are created by one
// write each, that later resyncs write nothing, that a change by another program is repaired and nothing else, that removing a manifest
// deletes its resource, and that the end deletes all resources.
func TestQuiescenceManifests(t *testing.T) {
	l := newLibrary(t)
	l.convergeManifests()
	if written := listWrites(l.listRequests()); len(written) != len(l.in.OwnManifests()) {
		t.Errorf("%d writes for %d documents:\n%s", len(written), len(l.in.OwnManifests()), strings.Join(written, "\n"))
	}
	l.checkQuiet()

	tests := map[string]struct {
		id, at      string
		value, want any
	}{
		"registry":  {"Microsoft.ContainerRegistry/registries/c1images", "adminUserEnabled", true, false},
		"vault":     {"Microsoft.KeyVault/vaults/c1-keys", "enableRbacAuthorization", false, true},
		"workspace": {"Microsoft.OperationalInsights/workspaces/logs", "retentionInDays", 60.0, 30.0},
		"rule":      {"Microsoft.Insights/dataCollectionRules/prometheus", "description", "mine", "metrics of the cluster"},
		"endpoint":  {"Microsoft.Insights/dataCollectionEndpoints/intake", "networkAcls.publicNetworkAccess", "Disabled", "Enabled"},
		"flux": {"Microsoft.ContainerService/managedClusters/c1/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/apps",
			"kustomizations.apps.path", "./others", "./apps"},
	}
	const group = "/subscriptions/" + server.DefaultSubscription + "/resourceGroups/c1/providers/"
	for _, test := range tests {
		changed := l.observeResource(group + test.id)
		setValue(changed, "properties."+test.at, test.value)
		l.putResource(arm.ID(group+test.id), changed)
	}
	l.listRequests()
	l.clock.advanceBy(10 * time.Minute)
	l.convergeManifests()
	if written := listWrites(l.listRequests()); len(written) != len(tests) {
		t.Errorf("%d writes for %d changes:\n%s", len(written), len(tests), strings.Join(written, "\n"))
	}
	for name, test := range tests {
		if got := harness.FindValue(l.observeResource(group+test.id), "properties."+test.at); got != test.want {
			t.Errorf("%s: %s is %v, want %v as in the resource manifest", name, test.at, got, test.want)
		}
	}

	left := slices.DeleteFunc(slices.Clone(l.in.Manifests()),
		func(d asoresource.Manifest) bool { return d.Kind == "DataCollectionRuleAssociation" })
	l.in.Set = asoresource.NewSet(l.in.SubscriptionID(), left, false)
	l.convergeManifests()
	want := []string{"DELETE " + strings.ToLower(group) + "microsoft.containerservice/managedclusters/c1/providers/microsoft.insights/datacollectionruleassociations/prometheus"}
	if written := listWrites(l.listRequests()); !slices.Equal(written, want) {
		t.Errorf("a document less: %v, want %v", written, want)
	}

	graph, err := asoresource.BuildDeletePlan(l.in, true)
	if err != nil {
		t.Fatal(err)
	}
	l.repeatUntil(arm.Outcome.IsDeleted, func(request engine.Request) (arm.Outcome, error) {
		request.Graph, request.DeleteWholeGroups = graph, true
		return l.engine.Delete(t.Context(), request)
	})
	for _, left := range l.sim.State() {
		t.Errorf("%v is left", left["id"])
	}
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	raw, err := os.ReadFile("testdata/documents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("SUBSCRIPTION"), []byte(server.DefaultSubscription)), []byte("TENANT"),
		[]byte(server.DefaultTenant))
	read := func(holder string, texts ...[]byte) (out []asoresource.Manifest) {
		var resources []runtime.RawExtension
		for _, text := range texts {
			decoded, err := yaml.YAMLToJSONStrict(text)
			if err != nil {
				t.Fatal(err)
			}
			resources = append(resources, runtime.RawExtension{Raw: decoded})
		}
		out, errs := asoresource.ReadManifests(holder, resources)
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		return out
	}
	owner := &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1", UID: "1"}}
	machines := &clusterv1.MachinePool{}
	machines.Spec.Replicas = new(int32(2))
	in := asoresource.Input{
		Cluster: "c1", Owner: owner, Object: owner, ObjectKey: "all", MachinePools: map[string]*clusterv1.MachinePool{"pool": machines},
		Facts:  map[string]json.RawMessage{},
		Values: aso.Values{Secrets: map[aso.KeyRef]string{{Name: "flux", Key: "token"}: "c2VjcmV0"}, ConfigMaps: map[aso.KeyRef]string{}},
	}
	in.Set = asoresource.NewSet(server.DefaultSubscription,
		append(read("all", bytes.Split(raw, []byte("\n---\n"))...), read("pool", []byte(poolManifest))...), false)
	if errs := asoresource.CheckManifests(in); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	l := &library{world: newWorld(t, "eastus"), in: in}
	l.client = l.client.WithAPIVersions(asoresource.APIVersions(in.Set))
	return l
}

// convergeManifests has the documents in place.
func (l *library) convergeManifests() {
	l.t.Helper()
	l.repeatUntil(arm.Outcome.IsDone, func(request engine.Request) (arm.Outcome, error) {
		needs := asoresource.ListNeededFacts(l.in)
		observed, err := l.engine.Observe(l.t.Context(), l.client, needs, true, engine.ReadOptions{})
		if err != nil {
			return arm.Outcome{}, err
		}
		for _, id := range needs {
			l.in.Facts[id.Key()] = observed[id.Key()].Body
		}
		for _, d := range l.in.OwnManifests() {
			if id, err := l.in.ResourceID(d); err == nil {
				for _, export := range asoresource.ListExports(d, l.in.Facts[id.Key()]) {
					l.in.Values.ConfigMaps[export.To] = export.Value
				}
			}
		}
		if request.Graph, err = asoresource.BuildPlan(l.in); err != nil {
			return arm.Outcome{}, err
		}
		sent := asoresource.LastApplied(l.in)
		request.Prune = sent.ListPruned(request.Graph)
		if paths := sent.PathsBefore(request.Graph); paths != nil {
			l.rememberPaths(paths)
		}
		outcome, err := l.engine.Converge(l.t.Context(), request)
		l.rememberPaths(sent.PathsAfter(request.Graph, outcome))
		return outcome, err
	})
}

// rememberPaths stores the paths in the object.
func (l *library) rememberPaths(paths applied.Paths) {
	content := applied.Read(l.in.Object.GetAnnotations())
	content.Applied = paths
	content.Store(l.in.Object)
}

// repeatUntil calls reconcile until end returns true for its outcome, which must be soon.
func (l *library) repeatUntil(end func(arm.Outcome) bool, reconcile func(engine.Request) (arm.Outcome, error)) {
	l.t.Helper()
	var outcome arm.Outcome
	for range 60 {
		var err error
		outcome, err = reconcile(engine.Request{Object: "documents", Client: l.client,
			Owner: engine.Owner{TagKey: infrav1.ClusterTagKey("c1"), TagValue: infrav1.TagOwned}, Inventory: l.inventory, Wake: l.wakeUp})
		if err != nil {
			l.t.Fatal(err)
		}
		l.inventory = outcome.Inventory
		if end(outcome) {
			return
		}
		select {
		case <-l.woken:
		case <-time.After(min(outcome.RetryAfter, 200*time.Millisecond)):
			l.clock.advanceBy(outcome.RetryAfter)
		}
	}
	for _, cause := range outcome.RootCauses() {
		l.t.Errorf("%s: %s %v %s", cause.ID.ShortName(), cause.State, cause.Err, cause.Message)
	}
	l.t.FailNow()
}

func (l *library) checkQuiet() {
	l.t.Helper()
	for range resyncs {
		l.clock.advanceBy(10 * time.Minute)
		l.convergeManifests()
	}
	if written := listWrites(l.listRequests()); len(written) > 0 {
		l.t.Errorf("nothing changed, but there was %v", written)
	}
}

func (l *library) observeResource(id string) map[string]any {
	l.t.Helper()
	observed, err := l.engine.Observe(l.t.Context(), l.client, []arm.ID{arm.ID(id)}, true, engine.ReadOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(observed[arm.ID(id).Key()].Body, &out); err != nil {
		l.t.Fatalf("%s: %v", id, err)
	}
	return out
}

// listWrites returns the requests that change something, in lower case and without queries.
func listWrites(requests []string) []string {
	var out []string
	for _, request := range requests {
		if method, target, _ := strings.Cut(request, " "); method != http.MethodGet && method != http.MethodPost {
			path, _, _ := strings.Cut(target, "?")
			out = append(out, method+" "+strings.ToLower(path))
		}
	}
	return out
}

// setValue writes a value at a dotted path.
func setValue(resource map[string]any, at string, value any) {
	path, last := at[:strings.LastIndexByte(at, '.')], at[strings.LastIndexByte(at, '.')+1:]
	harness.FindValue(resource, path).(map[string]any)[last] = value
}
