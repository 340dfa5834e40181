package requests_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestWaitingMachineReadsItsSecretOnce lets Azure be busy for two minutes when a machine is to be created; it expects that its bootstrap
// data are read once.
func TestWaitingMachineReadsItsSecretOnce(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		azureCluster := w.AzureCluster("c1")
		defaults.FillAzureCluster(azureCluster)
		w.CreateCluster(azureCluster)
		w.WaitReady(&infrav1.AzureCluster{}, "c1")
		w.CopyInfrastructure("c1")
		w.AddFault(fault.Rule{Method: http.MethodPut, Type: "Microsoft.Compute/virtualMachines", Kind: fault.Status, Status: 503,
			Code: "ServiceUnavailable", Message: "Busy.", Count: 20})
		reads := 0
		w.Refuse = func(verb string, object runtime.Object) error {
			if _, secret := object.(*corev1.Secret); secret && verb == "get" {
				reads++
			}
			return nil
		}
		mark := w.Azure.MarkRequests()
		w.ApplyMachine("c1", "m0", harness.Worker)
		virtual.WaitForSignal(nil, 2*time.Minute)
		w.Refuse = nil
		puts := 0
		for _, request := range w.Azure.Requests()[mark:] {
			if request.Method == http.MethodPut && strings.Contains(request.URL, "/virtualMachines/m0?") {
				puts++
			}
		}
		if puts < 5 || reads != 1 {
			t.Errorf("a machine that is sent %d times reads Secrets %d times, want 1", puts, reads)
		}
	})
}
