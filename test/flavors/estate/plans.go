package estate

import (
	"context"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/check"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// reader signs in to the simulator as a user.
type reader struct{ *harness.Simulator }

// GetToken implements azcore.TokenCredential.
func (r reader) GetToken(context.Context, azpolicy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: r.UserToken(), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// expectPlanned runs the plans of `kubectl capz migrate check` for the objects as the established provider has left them, and expects
// the finding that nothing is written, and no other. flags are those of the manager.
func expectPlanned(stage *harness.Stage, flags ...string) {
	stage.T.Helper()
	options := preview.Options{Play: clusterapi.PlayRound, Identity: identity.Options{ResourceManagerEndpoint: stage.Azure.URL,
		ResourceManagerAudience: "https://management.core.windows.net/", SubscriptionID: stage.Azure.SubscriptionID}}
	for _, flag := range flags {
		options.Gates, _ = strings.CutPrefix(flag, "--feature-gates=")
	}
	options.Live = &overlay.Live{Transport: stage.Azure.HTTP, Credential: reader{stage.Azure}, Endpoint: stage.Azure.URL,
		Audience: options.Identity.ResourceManagerAudience}
	report, err := check.FindPlans(stage.T.Context(), check.Options{Reader: stage.Client,
		Plan: func(ctx context.Context, objects []client.Object) (*preview.Result, error) {
			options := options
			options.Objects = objects
			return preview.Compute(ctx, options)
		}}, stage.Namespace)
	if err != nil {
		stage.T.Fatal(err)
	}
	want := []migration.Finding{{Check: "plan", Severity: migration.ToKnow, Object: "Cluster " + stage.Namespace + "/" + cluster,
		Found: "The manager writes nothing to Azure after the migration."}}
	if diff := cmp.Diff(want, report.Findings); diff != "" {
		stage.T.Errorf("findings of the plans (-want +got):\n%s", diff)
	}
}
