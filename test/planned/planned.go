package planned

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// Write is a request that changes Azure, as plans and managers send it.
type Write struct {
	Method, Path string
	Body         any
}

// CompareWrites plans what the manager would do now, has act do it, and returns how the writes that the manager then makes differ from the
// planned ones, "" for not at all, and their number. The manager must not run yet, or must have nothing to do.
func CompareWrites(s *virtual.Scenario, act func()) (diff string, count int) {
	s.T.Helper()
	planned := planWrites(s)
	var made []Write
	s.WrittenBody = func(request *http.Request, status int, body []byte) {
		made = append(made, newWrite(request.Method, request.URL.Path, status, body))
	}
	act()
	s.WrittenBody = nil
	return cmp.Diff(sortWrites(planned), sortWrites(made)), len(made)
}

// NewOptions returns the options of a plan of all objects of a scenario, as kubectl capz plan --all-namespaces reads them. subscription is
// the default one.
func NewOptions(s *virtual.Scenario, subscription string) preview.Options {
	s.T.Helper()
	read, err := management.Read(context.Background(), s.Kubernetes, management.Scope{})
	if err != nil {
		s.T.Fatal(err)
	}
	return preview.Options{
		Objects: read.Items, Now: time.Now(),
		Identity: identity.Options{ResourceManagerEndpoint: harness.VirtualEndpoint, ResourceManagerAudience: audience, SubscriptionID: subscription},
		Live:     &overlay.Live{Transport: s.AzureTransport(), Credential: simulated{s}, Endpoint: harness.VirtualEndpoint, Audience: audience},
	}
}

const audience = "https://management.core.windows.net/"

func planWrites(s *virtual.Scenario) (out []Write) {
	s.T.Helper()
	outcome, err := preview.Compute(context.Background(), NewOptions(s, s.Azure.SubscriptionID))
	if err != nil {
		s.T.Fatal(err)
	}
	if !outcome.Settled {
		s.T.Errorf("the plan has not settled after %d rounds", outcome.Rounds)
	}
	report, err := outcome.Report(context.Background(), nil)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, object := range report.Objects {
		if len(object.Reports) > 0 {
			s.T.Errorf("the plan reports of %s %s: %q", object.Kind, object.Name, object.Reports)
		}
	}
	for _, w := range outcome.Writes {
		out = append(out, newWrite(w.Method, w.Path, w.Status, w.Body))
	}
	return out
}

// simulated signs in to the simulator.
type simulated struct{ s *virtual.Scenario }

// GetToken implements azcore.TokenCredential.
func (c simulated) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: c.s.Sim.Token(c.s.Azure.ClientID), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func newWrite(method, path string, status int, body []byte) Write {
	out := Write{Method: method, Path: strings.ToLower(path)}
	if status >= http.StatusBadRequest {
		out.Method += " refused"
	}
	if len(body) > 0 {
		_ = json.Unmarshal(body, &out.Body)
		if object, is := out.Body.(map[string]any); is {
			jsonpath.Delete(object, "properties.osProfile.customData") // A plan reads no bootstrap data.
		}
	}
	return out
}

// sortWrites sorts writes, and leaves out those that were refused and sent again: how often depends on how long operations take.
func sortWrites(writes []Write) []Write {
	out := slices.DeleteFunc(slices.Clone(writes), func(w Write) bool { return strings.HasSuffix(w.Method, "refused") })
	slices.SortStableFunc(out, func(a, b Write) int {
		return strings.Compare(fmt.Sprint(a.Path, a.Method, a.Body), fmt.Sprint(b.Path, b.Method, b.Body))
	})
	return out
}
