package virtual

import (
	"net/http"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// call is a request of a manager. disturb carries it out with an outcome of the API server or of Azure; nil has none.
type call struct {
	name    string
	kind    callKind
	do      func() error
	disturb func(Disturbance) error
}

// newAzureCall returns the call of a request to Azure.
func (s *Scenario) newAzureCall(request *http.Request, do func() error) call {
	name := request.Method + " " + strings.TrimPrefix(request.URL.Path, "/subscriptions/"+s.Azure.SubscriptionID+"/")
	out := call{name: name, kind: azureRead, do: do}
	switch {
	case !strings.HasPrefix(request.URL.Path, "/subscriptions/"):
		out.kind = tokenCall
	case request.Method == http.MethodPut && strings.Contains(name, "/providers/Microsoft.Network/"):
		out.kind = networkWrite
	case isWrite(request):
		out.kind = azureWrite
	}
	out.disturb = func(o Disturbance) error { return s.disturbAzure(request, o, do) }
	return out
}

// azureFaults are the faults of the simulator for outcomes.
var azureFaults = map[Disturbance]fault.Rule{
	Conflict:        {Kind: fault.Status, Status: http.StatusConflict, Code: "AnotherOperationInProgress", Message: "Another operation is in progress."},
	Throttled:       {Kind: fault.Throttle, RetryAfter: 7},
	ServerError:     {Kind: fault.Status, Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Message: "The service is unavailable."},
	OperationFailed: {Kind: fault.Fail, Code: "InternalServerError", Message: "An error occurred."},
	StaleAnswer:     {Kind: fault.Stale},
}

// disturbAzure sends a request that meets a fault of the simulator. The simulator has faults of resources and lists
// only. Requests for other paths, such as the state of an operation, are carried out.
func (s *Scenario) disturbAzure(request *http.Request, o Disturbance, do func() error) error {
	rule := azureFaults[o]
	rule.Method, rule.ID = request.Method, strings.ToLower(path.Clean(request.URL.Path))
	if err := s.Sim.AddFault(rule); err != nil {
		return do()
	}
	uses := s.Sim.Faults()
	number := uses[len(uses)-1].Number
	err := do()
	for _, use := range s.Sim.Faults() {
		if use.Number == number && use.Done > 0 {
			s.explorer.meet(o)
		}
	}
	s.Sim.RemoveFault(number)
	return err
}

// newKubernetesCall returns the call of a write to Kubernetes.
func (s *Scenario) newKubernetesCall(verb string, object client.Object, name string, do func() error) call {
	return call{name: name, kind: kubernetesWrite, do: do, disturb: func(o Disturbance) error {
		s.explorer.meet(o)
		if o == Conflict && verb != "create" {
			return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), errConflict)
		}
		return apierrors.NewInternalError(errServer)
	}}
}
