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
	// Principal identifies the caller, for example by its client ID: requests of one principal share budgets and cached reads.
	Principal string
	// Version goes into the User-Agent as cluster-api-provider-azure/<version>; "" is "dev".
	Version string
	// Transport sends the requests; nil uses the settings of azcore's default.
	Transport policy.Transporter
	// Budgets limit requests; nil means none. Clients of one process share one.
	Budgets *Budgets
	// Now is the clock that Retry-After dates are measured with; nil is time.Now.
	Now func() time.Time
	// OnRequestEnd is called for every request that has ended; nil disables it. It must be quick.
	OnRequestEnd func(RequestRecord)
	// Timeout ends a request without an answer, in real time; 0 is 60 s.
	Timeout time.Duration
}

// Client sends requests to Azure Resource Manager as one principal. It is safe for concurrent use.
type Client struct {
	options  Options
	endpoint string
	pipeline runtime.Pipeline
	// signIn requests a token, or finds a valid one.
	signIn func(context.Context) error
	// typeOverride is the api-version for a type and the types below it.
	typeOverride struct{ resourceType, apiVersion string }
	// readOnly refuses writes.
	readOnly bool
	// tenant is the namespace of the objects that send the requests.
	tenant string
	// apiVersions holds the api-versions of single resources, by the keys of their IDs, and of resource types, in lower case.
	apiVersions map[string]string
}

// New returns a client for the Resource Manager of a cloud. It fails if the configuration has no Resource Manager.
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
		_, err := classifiedCredential{cred}.GetToken(ctx,
			policy.TokenRequestOptions{Scopes: []string{strings.TrimRight(manager.Audience, "/") + "/.default"}})
		return err
	}
	return &Client{options: options, endpoint: strings.TrimRight(manager.Endpoint, "/"), pipeline: pipeline, signIn: signIn}, nil
}

// SignIn checks that Entra ID accepts the credential, without a request to Resource Manager. It sends no request while the credential
// has a valid token.
func (c *Client) SignIn(ctx context.Context) error { return c.signIn(ctx) }

// ForTenant returns a copy of the client for requests of a tenant. Tenants share the budgets of the principal. Their reads may be
// shared as well.
func (c *Client) ForTenant(tenant string) *Client {
	other := *c
	other.tenant = tenant
	return &other
}

// WithAPIVersion returns a copy of the client with another api-version for one resource type and the types below it, in place of the
// caller's: a preview api-version has properties that others drop.
func (c *Client) WithAPIVersion(resourceType, apiVersion string) *Client {
	other := *c
	other.typeOverride.resourceType, other.typeOverride.apiVersion = resourceType, apiVersion
	return &other
}

// WithAPIVersions returns a copy of the client with other api-versions for the resources of these IDs and for these resource types, in
// place of the caller's. An ID takes precedence over its type. Types below are not included.
func (c *Client) WithAPIVersions(apiVersions map[string]string) *Client {
	other := *c
	other.apiVersions = map[string]string{}
	for key, apiVersion := range apiVersions {
		other.apiVersions[strings.ToLower(key)] = apiVersion
	}
	return &other
}

// apiVersion returns the api-version of a request: the override for its resource or type, or else the caller's.
func (c *Client) apiVersion(request Request) string {
	if version, ok := c.apiVersions[request.ID.Key()]; ok {
		return version
	}
	if version, ok := c.apiVersions[strings.ToLower(typeOf(request.ID))]; ok {
		return version
	}
	overridden := strings.ToLower(c.typeOverride.resourceType)
	if overridden == "" {
		return request.APIVersion
	}
	if resourceType := strings.ToLower(typeOf(request.ID)); resourceType == overridden || strings.HasPrefix(resourceType, overridden+"/") {
		return c.typeOverride.apiVersion
	}
	return request.APIVersion
}

// typeOf returns the type of a resource, or of the elements of a collection.
func typeOf(id arm.ID) string {
	if resourceType := id.Type(); resourceType != "" {
		return resourceType
	}
	// The path of a collection is that of its elements without their name.
	return (id + "/any").Type()
}

// CacheScope identifies principal, endpoint and overridden api-versions: only clients with the same scope may share reads.
func (c *Client) CacheScope() string {
	scope := c.options.Principal + "@" + c.endpoint
	if c.typeOverride.apiVersion != "" {
		scope += "?" + c.typeOverride.resourceType + "=" + c.typeOverride.apiVersion
	}
	for _, key := range slices.Sorted(maps.Keys(c.apiVersions)) {
		scope += "&" + key + "=" + c.apiVersions[key]
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

// ListPages is List with a limit of pages, 0 for all. complete means that there are no more pages.
func (c *Client) ListPages(ctx context.Context, path string, apiVersion string, query url.Values, pages int) (out []json.RawMessage,
	complete bool, err error) {
	request := Request{Method: http.MethodGet, ID: arm.ID(path), APIVersion: apiVersion, Query: query, page: true}
	fail := func(message string) ([]json.RawMessage, bool, error) {
		return nil, false, &arm.Error{Method: request.Method, ID: request.ID, Status: http.StatusOK, Code: CodeInvalidAnswer,
			Message: message}
	}
	size, known := 0, map[string]bool{}
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
			return fail(fmt.Sprintf("the list is too large: %d pages have %d elements with %d MiB", read, len(out), size>>20))
		}
		if page.next == "" || read == pages {
			return out, page.next == "", nil
		}
		if known[page.next] {
			return fail(fmt.Sprintf("the list has no end: page %d links to a page that was read before", read))
		}
		known[page.next] = true
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

// Post runs an action on a resource; action is the path below it, as in "deallocate". body may be nil.
func (c *Client) Post(ctx context.Context, id arm.ID, action, apiVersion string, body any) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodPost, ID: id, SubPath: action, APIVersion: apiVersion, Body: body})
}

// PollURL reads a URL that Azure returned for a long-running operation on id.
func (c *Client) PollURL(ctx context.Context, id arm.ID, operationURL string) (*Response, error) {
	return c.Do(ctx, Request{Method: http.MethodGet, ID: id, URL: operationURL})
}

// headerPolicy sets the headers of every request.
type headerPolicy struct{ userAgent string }

// Do implements policy.Policy. It runs after azcore's telemetry policy and keeps the User-Agent of that: an application ID of azcore is
// cut at 24 characters.
func (h headerPolicy) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	header.Set("User-Agent", strings.TrimSpace(header.Get("User-Agent")+" "+h.userAgent))
	return request.Next()
}
