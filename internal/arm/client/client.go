package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	armpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/policy"
	armruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Options configure a Client. The zero value is usable.
type Options struct {
	// Principal names who asks, for example the client ID: requests of one principal share budgets and cached reads.
	Principal string
	// Version goes into the User-Agent as cluster-api-provider-azure/<version>; "" is "dev".
	Version string
	// Transport sends the requests; nil is one with the settings of azcore's default.
	Transport policy.Transporter
	// Budgets limit requests; nil means none. Clients of one process share one.
	Budgets *Budgets
	// Now is the clock that Retry-After dates are measured with; nil is time.Now.
	Now func() time.Time
	// OnRequestEnd is told of every request once it has ended; nil is nobody. It must be quick.
	OnRequestEnd func(RequestRecord)
	// Timeout ends a single request that got no answer, in real time; 0 is 60 s.
	Timeout time.Duration
}

// Client talks to Azure Resource Manager as one principal. It is safe for concurrent use.
type Client struct {
	options  Options
	endpoint string
	pipeline runtime.Pipeline
	// signIn has a token issued, or finds one that is still good.
	signIn func(context.Context) error
	// typeOverride is the api-version for a type and what is below it.
	typeOverride struct{ resourceType, apiVersion string }
	// tenant is the Namespace whose objects ask.
	tenant string
	// apiVersions are the api-versions of single resources, by the keys of their IDs, and of resource types, in lower case.
	apiVersions map[string]string
}

// New makes a client for the Resource Manager of a cloud. It fails when the configuration names no Resource Manager.
func New(cred azcore.TokenCredential, configuration cloud.Configuration, options Options) (*Client, error) {
	if cred == nil {
		return nil, errors.New("no credential for Azure Resource Manager")
	}
	manager, ok := configuration.Services[cloud.ResourceManager]
	if !ok || manager.Endpoint == "" {
		return nil, errors.New("the cloud configuration names no Azure Resource Manager endpoint")
	}
	if options.Version == "" {
		options.Version = "dev"
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Timeout == 0 {
		options.Timeout = 60 * time.Second
	}
	pipeline, err := armruntime.NewPipeline("arm", options.Version, classifiedCredential{cred}, runtime.PipelineOptions{
		PerRetry: []policy.Policy{headerPolicy{userAgent: "cluster-api-provider-azure/" + options.Version}},
	}, &armpolicy.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Cloud: configuration, Transport: managerTransport{ConfineToHost(options.Transport)},
			Retry: policy.RetryOptions{MaxRetries: -1},
		},
		// Registering a resource provider blocks for minutes; a missing registration is reported instead.
		DisableRPRegistration: true,
	})
	if err != nil {
		return nil, err
	}
	signIn := func(ctx context.Context) error {
		_, err := classifiedCredential{cred}.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{strings.TrimRight(manager.Audience, "/") + "/.default"}})
		return err
	}
	return &Client{options: options, endpoint: strings.TrimRight(manager.Endpoint, "/"), pipeline: pipeline, signIn: signIn}, nil
}

// SignIn finds out whether Entra ID takes the credential, without a request to Resource Manager. As long as the credential has a
// token, it asks nobody.
func (c *Client) SignIn(ctx context.Context) error { return c.signIn(ctx) }

// ForTenant is the same client for requests of a tenant, which share the budgets of the principal with other tenants. What they read may be
// shared with others as well.
func (c *Client) ForTenant(tenant string) *Client {
	other := *c
	other.tenant = tenant
	return &other
}

// WithAPIVersion is the same client with another api-version for one resource type and the types below it, whatever its
// callers ask for: a preview api-version shows and takes properties that others drop.
func (c *Client) WithAPIVersion(resourceType, apiVersion string) *Client {
	other := *c
	other.typeOverride.resourceType, other.typeOverride.apiVersion = resourceType, apiVersion
	return &other
}

// WithAPIVersions is the same client with other api-versions for the resources of these IDs and for these resource types,
// whatever its callers ask for. An ID goes before its type. Types below are others.
func (c *Client) WithAPIVersions(apiVersions map[string]string) *Client {
	other := *c
	other.apiVersions = map[string]string{}
	for of, apiVersion := range apiVersions {
		other.apiVersions[strings.ToLower(of)] = apiVersion
	}
	return &other
}

// apiVersion is the api-version of a request: what the caller asks for, or the override for its type.
func (c *Client) apiVersion(request Request) string {
	if spoken, ok := c.apiVersions[request.ID.Key()]; ok {
		return spoken
	}
	if spoken, ok := c.apiVersions[strings.ToLower(typeOf(request.ID))]; ok {
		return spoken
	}
	of := strings.ToLower(c.typeOverride.resourceType)
	if of == "" {
		return request.APIVersion
	}
	if resourceType := strings.ToLower(typeOf(request.ID)); resourceType == of || strings.HasPrefix(resourceType, of+"/") {
		return c.typeOverride.apiVersion
	}
	return request.APIVersion
}

// typeOf is the type of a resource, or of the elements of a collection.
func typeOf(id arm.ID) string {
	if resourceType := id.Type(); resourceType != "" {
		return resourceType
	}
	// A collection is asked for by the path of its elements without their name.
	return (id + "/any").Type()
}

// CacheScope names principal, endpoint and the api-versions that are spoken instead of others: reads may be shared between clients with the same
// scope only.
func (c *Client) CacheScope() string {
	scope := c.options.Principal + "@" + c.endpoint
	if c.typeOverride.apiVersion != "" {
		scope += "?" + c.typeOverride.resourceType + "=" + c.typeOverride.apiVersion
	}
	for _, of := range slices.Sorted(maps.Keys(c.apiVersions)) {
		scope += "&" + of + "=" + c.apiVersions[of]
	}
	return scope
}

// Get reads a resource, or a path below one. query may be nil.
func (c *Client) Get(ctx context.Context, id arm.ID, apiVersion string, query url.Values) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodGet, ID: id, APIVersion: apiVersion, Query: query})
}

// List reads all pages of a collection. path is an ID followed by the type, as in
// group + "/providers/Microsoft.Network/virtualNetworks".
func (c *Client) List(ctx context.Context, path string, apiVersion string, query url.Values) ([]json.RawMessage, error) {
	out, _, err := c.ListPages(ctx, path, apiVersion, query, 0)
	return out, err
}

// ListPages is List of so many pages at most, 0 for all. complete tells whether there are no more.
func (c *Client) ListPages(ctx context.Context, path string, apiVersion string, query url.Values, pages int) (out []json.RawMessage, complete bool, err error) {
	request := Request{Method: http.MethodGet, ID: arm.ID(path), APIVersion: apiVersion, Query: query, page: true}
	size := 0
	for read := 1; ; read++ {
		_, page, err := c.doAndRecord(ctx, request)
		if err != nil {
			return nil, false, err
		}
		out = append(out, page.elements...)
		for _, element := range page.elements {
			size += len(element)
		}
		if size > maxListed || len(out) > maxElements || read > maxPages {
			return nil, false, &arm.Error{Method: request.Method, ID: request.ID, Status: http.StatusOK, Code: CodeInvalidAnswer,
				Message: fmt.Sprintf("the list is too large: %d pages have %d elements with %d MiB", read, len(out), size>>20)}
		}
		if page.next == "" || read == pages {
			return out, page.next == "", nil
		}
		request = Request{Method: http.MethodGet, ID: arm.ID(path), URL: page.next, page: true}
	}
}

// Put creates or updates a resource. body is JSON or marshals to it; ifMatch is an etag or "".
func (c *Client) Put(ctx context.Context, id arm.ID, apiVersion string, body any, ifMatch string) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodPut, ID: id, APIVersion: apiVersion, Body: body, IfMatch: ifMatch})
}

// Patch changes a part of a resource.
func (c *Client) Patch(ctx context.Context, id arm.ID, apiVersion string, body any) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodPatch, ID: id, APIVersion: apiVersion, Body: body})
}

// Delete starts the deletion of a resource.
func (c *Client) Delete(ctx context.Context, id arm.ID, apiVersion string, query url.Values) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodDelete, ID: id, APIVersion: apiVersion, Query: query})
}

// Post does an action on a resource; action is the path below it, as in "deallocate". body may be nil.
func (c *Client) Post(ctx context.Context, id arm.ID, action, apiVersion string, body any) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodPost, ID: id, SubPath: action, APIVersion: apiVersion, Body: body})
}

// PollURL reads a URL that Azure gave for a long-running operation on id.
func (c *Client) PollURL(ctx context.Context, id arm.ID, operationURL string) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodGet, ID: id, URL: operationURL})
}

// CorrelationID puts the ID into the context that every request below it sends as x-ms-correlation-request-id.
func CorrelationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, correlationKey{}, id)
}

type correlationKey struct{}

// headerPolicy sets what every request carries.
type headerPolicy struct{ userAgent string }

// Do implements policy.Policy. It runs after azcore's telemetry policy and keeps what that says: its own application ID
// is cut at 24 characters.
func (h headerPolicy) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	header.Set("User-Agent", strings.TrimSpace(header.Get("User-Agent")+" "+h.userAgent))
	if id, _ := request.Raw().Context().Value(correlationKey{}).(string); id != "" {
		header.Set("X-Ms-Correlation-Request-Id", id)
	}
	return request.Next()
}
