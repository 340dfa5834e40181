package identity

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// answers remembers what Entra ID answered when credentials were last used. It asks nothing itself, and it has no secrets. It is safe
// for concurrent use.
type answers struct {
	mu sync.Mutex
	// refusals has the answers by the key of the credential; nil is that of a credential that was accepted. It has those of credentials in
	// used only.
	refusals map[string]error
	// used has the uses of credentials by identity and cloud environment.
	used map[types.NamespacedName]map[string]use
	// notify is called with an identity whose answer changed; nil is not called.
	notify func(types.NamespacedName)
}

// use is the last use of a credential of an identity in a cloud environment.
type use struct {
	// key is that of the credential.
	key string
	at  time.Time
}

// unusedAfter is how long after its last use an answer is about the identity. Every object uses its identity at each reconciliation, every
// ten minutes by default, so no object uses one in this environment any more.
const unusedAfter = time.Hour

func newAnswers() *answers {
	return &answers{refusals: map[string]error{}, used: map[types.NamespacedName]map[string]use{}}
}

// answering is a credential whose answers are remembered.
type answering struct {
	azcore.TokenCredential
	key     string
	answers *answers
}

// GetToken implements azcore.TokenCredential.
func (a answering) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := a.TokenCredential.GetToken(ctx, options)
	if ctx.Err() == nil {
		a.answers.record(a.key, err)
	}
	return token, err
}

// record remembers the answer to a request for a token. Without an answer of Entra ID the last one is kept.
func (a *answers) record(key string, err error) {
	refusal := ""
	if err != nil {
		answer, refused := armclient.EntraRefusal(err)
		if !refused {
			return
		}
		refusal = answer
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.usersOf(key)) == 0 {
		return
	}
	last, answered := a.refusals[key]
	if err == nil {
		if a.refusals[key] = nil; last != nil || !answered {
			a.notifyUsers(key)
		}
		return
	}
	if last == nil || last.Error() != refusal {
		a.refusals[key] = errors.New(refusal)
		a.notifyUsers(key)
	}
}

// notifyUsers calls notify for each identity with the credential.
func (a *answers) notifyUsers(key string) {
	if a.notify == nil {
		return
	}
	for _, user := range a.usersOf(key) {
		a.notify(user)
	}
}

// usersOf returns the identities with the credential.
func (a *answers) usersOf(key string) (out []types.NamespacedName) {
	for user, uses := range a.used {
		for _, each := range uses {
			if each.key == key {
				out = append(out, user)
				break
			}
		}
	}
	return out
}

// dropUnlessUsed drops the answer for a credential that no identity has any more.
func (a *answers) dropUnlessUsed(key string) {
	if len(a.usersOf(key)) == 0 {
		delete(a.refusals, key)
	}
}

// addUser remembers that an identity has a credential in a cloud environment.
func (a *answers) addUser(identity *infrav1.AzureClusterIdentity, environment, key string) {
	user := types.NamespacedName{Namespace: identity.Namespace, Name: identity.Name}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used[user] == nil {
		a.used[user] = map[string]use{}
	}
	former := a.used[user][environment].key
	a.used[user][environment] = use{key: key, at: time.Now()}
	if former != key {
		a.dropUnlessUsed(former)
	}
}

// environments returns the cloud environments in which an identity is used, and forgets the others.
func (a *answers) environments(user types.NamespacedName) (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for environment, last := range a.used[user] {
		if time.Since(last.at) > unusedAfter {
			delete(a.used[user], environment)
			a.dropUnlessUsed(last.key)
			continue
		}
		out = append(out, environment)
	}
	return out
}

// forget drops an identity that is gone.
func (a *answers) forget(user types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	former := a.used[user]
	delete(a.used, user)
	for _, each := range former {
		a.dropUnlessUsed(each.key)
	}
}

// last returns the answer for a credential, and whether there is one.
func (a *answers) last(key string) (refusal error, answered bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	refusal, answered = a.refusals[key]
	return refusal, answered
}

// OnAnswer has wake called with each identity whose credential Entra ID answered for the first time or in another way than before. It is
// called once, before the provider is used.
func (p *Provider) OnAnswer(wake func(types.NamespacedName)) {
	p.answers.mu.Lock()
	defer p.answers.mu.Unlock()
	p.answers.notify = wake
}

// Forget removes the entry of an identity that is gone.
func (p *Provider) Forget(identity types.NamespacedName) { p.answers.forget(identity) }

// LastAnswer returns Entra ID's answer if it refused the identity's current credential when that was last used, in any cloud, and nil if it
// accepted it. It sends no requests. Without an answer to this process, answered is false.
func (p *Provider) LastAnswer(ctx context.Context, identity *infrav1.AzureClusterIdentity) (refusal error, answered bool) {
	for _, environment := range p.answers.environments(types.NamespacedName{Namespace: identity.Namespace, Name: identity.Name}) {
		resolved, err := p.resolveIdentity(ctx, identity, environment)
		if err != nil {
			return err, true
		}
		last, known := p.answers.last(resolved.Key)
		if last != nil {
			return &Error{Code: CredentialsInvalid, Message: last.Error() + ". Correct spec.tenantID, spec.clientID or the credential"}, true
		}
		answered = answered || known
	}
	return nil, answered
}
