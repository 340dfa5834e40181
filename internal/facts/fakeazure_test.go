package facts

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// fakeAzure answers GETs with fixed bodies by path and counts them. It is a transport, so everything above it is real.
type fakeAzure struct {
	mu      sync.Mutex
	bodies  map[string]string // by path in lower case; a body that starts with a digit is a status and an error code
	asked   map[string]int
	filters []string
	// hold, if set, keeps answers back until it is closed.
	hold chan struct{}
}

func newFakeAzure(bodies map[string]string) *fakeAzure {
	a := &fakeAzure{bodies: map[string]string{}, asked: map[string]int{}}
	for path, body := range bodies {
		a.setBody(path, body)
	}
	return a
}

func (a *fakeAzure) setBody(path, body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bodies[strings.ToLower(path)] = body
}

func (a *fakeAzure) countRequests(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[strings.ToLower(path)]
}

func (a *fakeAzure) Do(request *http.Request) (*http.Response, error) {
	path := strings.ToLower(request.URL.Path)
	a.mu.Lock()
	a.asked[path]++
	if filter := request.URL.Query().Get("$filter"); filter != "" {
		a.filters = append(a.filters, filter)
	}
	body, ok := a.bodies[path]
	hold := a.hold
	a.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if !ok {
		body = "404 ResourceNotFound"
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	if status, code, failed := strings.Cut(body, " "); failed && len(status) == 3 {
		recorder.WriteHeader(map[string]int{"403": 403, "404": 404, "500": 500}[status])
		body = `{"error":{"code":"` + code + `","message":"as the test wants it"}}`
	}
	recorder.WriteString(body)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

func newCaller(t *testing.T, a *fakeAzure, principal string) Caller {
	t.Helper()
	c, err := client.New(credential.Token("t"), cloud.AzurePublic, client.Options{Principal: principal, Transport: a})
	if err != nil {
		t.Fatal(err)
	}
	return Caller{Client: c}
}

// manualClock is a clock that stands until it is set.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *manualClock { return &manualClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) advanceTime(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const (
	locationsPath = "/subscriptions/sub/locations"
	skusPath      = "/subscriptions/sub/providers/Microsoft.Compute/skus"
	groupPath     = "/subscriptions/sub/resourceGroups/rg/providers/"
	vnetPath      = groupPath + "Microsoft.Network/virtualNetworks/vnet"
	balancerPath  = groupPath + "Microsoft.Network/loadBalancers/lb"
	vmPath        = groupPath + "Microsoft.Compute/virtualMachines/m0"
)

func clusterInput(change func(*infrav1.AzureCluster)) plan.ClusterInput {
	azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	azureCluster.Spec.Location = "eastus2"
	azureCluster.Spec.ResourceGroup = "rg"
	azureCluster.Spec.NetworkSpec.Vnet.Name = "vnet"
	azureCluster.Spec.NetworkSpec.Vnet.ResourceGroup = "rg"
	azureCluster.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{Name: "lb"}
	if change != nil {
		change(azureCluster)
	}
	return plan.ClusterInput{
		Cluster:        &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}},
		AzureCluster:   azureCluster,
		SubscriptionID: "sub",
	}
}

func machineInput(name string) plan.MachineInput {
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	machine.Spec.VMSize = "Standard_D2s_v5"
	return plan.MachineInput{ClusterInput: clusterInput(nil), AzureMachine: machine, ControlPlane: true}
}

// regionBodies is Azure's answer for a subscription with one region of three zones, as in a real catalog: a size in all
// zones, one that the subscription may create in one zone only, one that it may not create at all, and other kinds.
var regionBodies = map[string]string{
	locationsPath: `{"value":[{"name":"eastus"},{"name":"eastus2"},{"name":"westeurope"}]}`,
	skusPath: `{"value":[
		{"resourceType":"availabilitySets","name":"Classic","capabilities":[{"name":"MaximumPlatformFaultDomainCount","value":"5"}]},
		{"resourceType":"availabilitySets","name":"Aligned","capabilities":[{"name":"MaximumPlatformFaultDomainCount","value":"3"}]},
		{"resourceType":"disks","name":"Standard_D2s_v5","locationInfo":[{"location":"eastus2","zones":["9"]}]},
		{"resourceType":"virtualMachines","name":"Standard_D2s_v5",
			"locationInfo":[{"location":"eastus2","zones":["3","1","2"],"zoneDetails":[{"name":["2","3"],"capabilities":[{"name":"UltraSSDAvailable","value":"True"}]}]}],
			"capabilities":[{"name":"vCPUs","value":"2"},{"name":"MemoryGB","value":"8"},{"name":"EphemeralOSDiskSupported","value":"False"}],"restrictions":[]},
		{"resourceType":"virtualMachines","name":"Standard_D4s_v5",
			"locationInfo":[{"location":"EastUS2","zones":["1","2"]},{"location":"eastus","zones":["4"]}],
			"capabilities":[{"name":"vCPUs","value":"4"},{"name":"MemoryGB","value":"0.5"}],
			"restrictions":[{"type":"Zone","values":["eastus2"],"restrictionInfo":{"locations":["eastus2"],"zones":["2"]},"reasonCode":"NotAvailableForSubscription"}]},
		{"resourceType":"virtualMachines","name":"Standard_NC6",
			"locationInfo":[{"location":"eastus2","zones":["7"],"zoneDetails":[{"name":null,"capabilities":[{"name":"UltraSSDAvailable","value":"True"}]}]}],
			"capabilities":[],
			"restrictions":[{"type":"Location","values":["eastus2"],"restrictionInfo":{"locations":["eastus2"]},"reasonCode":"NotAvailableForSubscription"}]}
	]}`,
}
