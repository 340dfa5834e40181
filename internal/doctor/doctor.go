// Package doctor checks, before a cluster is created, the parts of Azure that its creation needs: endpoints, credentials, rights, resource
// providers, VM sizes with their zones, versions of Kubernetes and quota. Each check that fails has the command that fixes it.
//
// The needs are those of a plan (internal/preview), so they follow from the manager's own controllers for all kinds. It sends only requests
// that read, blocks as long as they take, and may be repeated.
package doctor

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

// Account is an identity in a subscription, with which clusters are created.
type Account struct {
	// Subject names the identity in messages.
	Subject string
	// Identity is the object, or represents the Secret of an identity.
	Identity *infrav1.AzureClusterIdentity
	// Credential signs in. It is nil if Err has the reason why there is none.
	Credential azcore.TokenCredential
	Err        error
	// Fix is the command that removes the cause of Err; "" if it follows from Identity.
	Fix string
	// ServiceAccount is the one whose token an identity of type WorkloadIdentity signs in with.
	ServiceAccount client.ObjectKey
	Cloud          cloud.Configuration
	// SubscriptionID is that of the clusters.
	SubscriptionID string
}

// Options are the input of the checks.
type Options struct {
	Accounts []Account
	// Writes are those of a plan of the manifests, and Objects the manifests.
	Writes  []overlay.Write
	Objects []client.Object
	// User reads the role assignments of an identity that cannot read its own permissions; nil if there is none.
	User azcore.TokenCredential
	// Transport sends all requests.
	Transport policy.Transporter
	Version   string
}

// Run runs all checks.
func Run(ctx context.Context, o Options) *Report {
	out := &Report{}
	var reached []string
	var signedIn []string
	for i := range o.Accounts {
		account := &o.Accounts[i]
		for _, endpoint := range endpointsOf(account.Cloud) {
			if key := endpoint.name + endpoint.url; !slices.Contains(reached, key) {
				reached = append(reached, key)
				out.add(checkEndpoint(ctx, o.Transport, endpoint))
			}
		}
		c, check := signIn(ctx, o, account)
		if !slices.Contains(signedIn, check.Subject+check.Message) {
			signedIn = append(signedIn, check.Subject+check.Message)
			out.add(check)
		}
		if c == nil {
			continue // Nothing else can be asked.
		}
		a := &asker{options: &o, account: account, client: c, needs: findNeeds(account.SubscriptionID, o.Writes, o.Objects),
			facts: facts.New(facts.Options{})}
		for _, check := range []func(context.Context) []Check{a.checkRights, a.checkProviders, a.checkSizes, a.checkVersions, a.checkQuota} {
			out.add(check(ctx)...)
		}
	}
	return out
}

// asker asks Azure as one account.
type asker struct {
	options *Options
	account *Account
	client  *armclient.Client
	needs   *needs
	facts   *facts.Facts
}

// scope is the ID of the subscription.
func (a *asker) scope() string { return "/subscriptions/" + a.account.SubscriptionID }
