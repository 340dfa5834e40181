package azuremachinepool

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// refusing refuses every request and counts them.
type refusing int

func (r *refusing) Do(request *http.Request) (*http.Response, error) {
	*r++
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Request: request,
		Body: io.NopCloser(strings.NewReader(`{"error":{"code":"AuthorizationFailed","message":"no"}}`))}, nil
}

// TestRefusedDeletionOfVMs reconciles a pool again and again whose request to delete a VM Azure refused.
func TestRefusedDeletionOfVMs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		azure := refusing(0)
		c, err := client.New(credential.Token("t"), cloud.AzurePublic, client.Options{Principal: "p", Transport: &azure})
		if err != nil {
			t.Fatal(err)
		}
		e, k := engine.New(engine.Options{}), &Kind{}
		session := reconcile.Session{Name: "AzureMachinePool/default/pool", Now: time.Now}
		in := &input{planned: pool.Input{
			ClusterInput: plan.ClusterInput{SubscriptionID: "s",
				AzureCluster: &infrav1.AzureCluster{Spec: infrav1.AzureClusterSpec{ResourceGroup: "rg"}}},
			AzureMachinePool: &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}},
		}}
		for _, number := range []string{"0", "1"} {
			in.vms = append(in.vms, pool.Instance{ID: pool.ScaleSetID(in.planned) + arm.ID("/virtualMachines/"+number), InstanceID: number})
		}
		for _, step := range []struct {
			reason string
			later  time.Duration
			// vms is how many VMs are to be deleted. written is set if the scale set was written in this reconciliation.
			vms       int
			written   bool
			requested bool
			requests  refusing
			failed    bool
		}{
			{"the request is sent, and Azure refuses it", 0, 1, false, false, 1, true},
			{"the end of the request wakes the pool, which does not repeat it", 0, 1, false, false, 1, true},
			{"nor does any other wake before the retry is due", 59 * time.Second, 1, false, false, 1, true},
			{"the failure stays while nothing is sent because the scale set is written first", 0, 1, true, false, 1, true},
			{"the retry is due", time.Second, 1, false, false, 2, true},
			{"a user asked for a retry", 0, 1, false, true, 3, true},
			{"another request is not the refused one", 0, 2, false, false, 4, true},
			{"no VM is to be deleted any more", 0, 0, false, false, 4, false},
		} {
			<-time.After(step.later)
			in.actions = rollout.Actions{}
			for _, vm := range in.vms[:step.vms] {
				in.actions.Delete = append(in.actions.Delete, string(vm.ID))
			}
			session.RunAction = func(ctx context.Context, action engine.Action) arm.Result {
				action.RetryNow = step.requested
				return e.RunAction(ctx, c, action, nil)
			}
			got := k.sendRequests(t.Context(), session, in, !step.written)
			synctest.Wait()
			if azure != step.requests || (got.failure != nil) != step.failed || got.running {
				t.Errorf("%s: %d requests, %+v; want %d requests, failed %t", step.reason, azure, got, step.requests, step.failed)
			}
		}
	})
}
