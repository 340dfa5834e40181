package planned

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// World is what a plan is about: a management cluster and an Azure.
type World struct {
	Kubernetes client.Client
	Azure      *server.Server
	// Options are those of Azure.
	Options server.Options
	// Endpoint is the URL of Azure.
	Endpoint string
	// Features are the feature gates of the manager.
	Features plan.Features
	// Known has the plans of states for which one was computed.
	Known map[[sha256.Size]byte][]Write
	// Catalogs are the SKU catalogs of this Azure, which depend on its options only.
	Catalogs *facts.Catalogs
}

// CatalogLifetime is how long the catalogs of a simulated Azure are kept, in which they never change.
const CatalogLifetime = 100 * 365 * 24 * time.Hour

const audience = "https://management.core.windows.net/"

// NewOptions returns the options of a plan of all objects, as kubectl capz plan --all-namespaces has them. subscription is the default one.
// The plan reads a copy of Azure: its requests neither appear among those that tests count, nor do they use up faults and limits. Close
// the returned function's copy when the plan is done.
func (w World) NewOptions(ctx context.Context, subscription string) (preview.Options, func(), error) {
	options, azure, err := w.newOptions(ctx, subscription)
	return options, func() { _ = azure.Close() }, err
}

func (w World) newOptions(ctx context.Context, subscription string) (preview.Options, *server.Server, error) {
	read, err := management.Read(ctx, w.Kubernetes, management.Scope{})
	if err != nil {
		return preview.Options{}, nil, err
	}
	azure, err := w.copyAzure()
	if err != nil {
		return preview.Options{}, nil, err
	}
	return preview.Options{
		Objects: read.Items, Now: time.Now(), Gates: fmt.Sprintf("EdgeZone=%t,APIServerILB=%t", w.Features.EdgeZone, w.Features.APIServerILB),
		UncheckedASOKinds: w.Features.UncheckedASOKinds, Catalogs: w.Catalogs,
		Identity: identity.Options{ResourceManagerEndpoint: w.Endpoint, ResourceManagerAudience: audience, SubscriptionID: subscription},
		Live:     &overlay.Live{Transport: served{azure.Handler()}, Credential: signedIn{sync.OnceValue(func() string { return azure.Token("") })}, Endpoint: w.Endpoint, Audience: audience},
	}, azure, nil
}

// copyAzure returns an Azure with the same resources and without faults, in which no time goes by.
func (w World) copyAzure() (*server.Server, error) {
	options := w.Options
	options.Clock, options.Committed, options.RequestLog, options.EnforceRBAC = store.NewVirtual(time.Now()), nil, nil, false
	options.Throttle, options.Origin = nil, nil
	copied, err := server.New(options)
	if err != nil {
		return nil, err
	}
	if err := copied.CopyState(w.Azure); err != nil {
		return nil, err
	}
	copied.ClearFaults()
	return copied, nil
}

// Moment is a World as it was once.
type Moment struct {
	options preview.Options
	azure   *server.Server
	known   map[[sha256.Size]byte][]Write
}

// Take returns the World as it is now, to be planned later. subscription is the default one.
func (w World) Take(ctx context.Context, subscription string) (*Moment, error) {
	options, azure, err := w.newOptions(ctx, subscription)
	if err != nil {
		return nil, err
	}
	return &Moment{options: options, azure: azure, known: w.Known}, nil
}

// IsIdle reports whether no operation of Azure was under way. Operations of a Moment never end, so nothing is planned that waits for one.
func (m *Moment) IsIdle() bool {
	return !slices.ContainsFunc(m.azure.Operations(), func(op *store.Operation) bool { return op.Ended.IsZero() })
}

// Close ends the copy of Azure.
func (m *Moment) Close() { _ = m.azure.Close() }

// Plan returns the writes that a manager would have made at the moment.
func (m *Moment) Plan(ctx context.Context) ([]Write, error) {
	options := m.options
	state, err := digest(options.Objects, m.azure)
	if err != nil {
		return nil, err
	}
	if known, is := m.known[state]; is {
		return slices.Clone(known), nil
	}
	options.KeepObserving = true
	outcome, err := preview.Compute(ctx, options)
	if err != nil {
		return nil, err
	}
	if !outcome.Settled {
		return nil, fmt.Errorf("the plan has not settled after %d rounds", outcome.Rounds)
	}
	var out []Write
	for _, each := range outcome.Writes {
		if each.Status < http.StatusBadRequest {
			write := NewWrite(each.Method, each.Path, each.Body)
			write.After = each.At.Sub(options.Now)
			out = append(out, write)
		}
	}
	m.known[state] = out
	return slices.Clone(out), nil
}

// digest returns a hash of all that a plan depends on, but for the time.
func digest(objects []client.Object, azure *server.Server) (out [sha256.Size]byte, err error) {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for _, each := range objects {
		object := each.DeepCopyObject().(client.Object)
		object.SetResourceVersion("")
		annotations := object.GetAnnotations()
		delete(annotations, TouchedAnnotation)
		object.SetAnnotations(annotations)
		err = errors.Join(err, encoder.Encode(object))
	}
	err = errors.Join(err, encoder.Encode(azure.State()))
	hash.Sum(out[:0])
	return out, err
}

// TouchedAnnotation is the annotation with which tests have an object reconciled.
const TouchedAnnotation = "example.com/touched"

// served sends requests to a handler.
type served struct{ http.Handler }

// Do implements policy.Transporter.
func (s served) Do(request *http.Request) (*http.Response, error) {
	sent := request.Clone(request.Context())
	sent.RequestURI, sent.Host = request.URL.RequestURI(), request.URL.Host
	if sent.Body == nil {
		sent.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, sent)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

// signedIn signs in to a simulator, when a token is needed first.
type signedIn struct{ token func() string }

// GetToken implements azcore.TokenCredential.
func (s signedIn) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: s.token(), ExpiresOn: time.Now().Add(time.Hour)}, nil
}
