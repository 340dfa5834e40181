package identity

import (
	"context"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,resourceNames=capz-workload-identity,verbs=create

// The permission for tokens of the ServiceAccount azureserviceoperator-default is in config/rbac/former_identities.yaml, because it
// is limited to the manager's namespace.

const (
	// exchangeAudience is the audience of the tokens that Entra ID exchanges for its own.
	// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust
	exchangeAudience = "api://AzureADTokenExchange"
	// tokenLifetime is the requested lifetime of a token. The API server may choose another one.
	tokenLifetime = time.Hour
)

// accountIn returns the ServiceAccount of a namespace that its identities sign in with.
func accountIn(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: infrav1.WorkloadIdentityServiceAccount}
}

// tokenSubject returns the subject of the tokens of a ServiceAccount.
func tokenSubject(account types.NamespacedName) string {
	return "system:serviceaccount:" + account.Namespace + ":" + account.Name
}

// assertions caches the tokens of ServiceAccounts that Entra ID exchanges for its own, until a fifth of their lifetime is left.
type assertions struct {
	kubernetes client.SubResourceClientConstructor
	now        func() time.Time

	mu   sync.Mutex
	kept map[types.NamespacedName]assertion // by ServiceAccount
}

type assertion struct {
	token          string
	renew, expires time.Time
}

// getToken returns a token of a ServiceAccount.
func (a *assertions) getToken(ctx context.Context, key types.NamespacedName) (string, error) {
	a.mu.Lock()
	kept := a.kept[key]
	a.mu.Unlock()
	begun := a.now()
	if begun.Before(kept.renew) {
		return kept.token, nil
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{exchangeAudience}, ExpirationSeconds: new(int64(tokenLifetime.Seconds())),
	}}
	if err := a.kubernetes.SubResource("token").Create(ctx, account, request); err != nil {
		if begun.Before(kept.expires) && !apierrors.IsNotFound(err) {
			return kept.token, nil
		}
		return "", refusedToken(key, err)
	}
	expires := request.Status.ExpirationTimestamp.Time
	a.storeToken(key, assertion{token: request.Status.Token, renew: begun.Add(expires.Sub(begun) * 4 / 5), expires: expires}, begun)
	return request.Status.Token, nil
}

// HasAccount returns true if a namespace has the ServiceAccount that its identities sign in with. The manager may not read
// ServiceAccounts, so it requests a token and drops it. If it may not do that either, HasAccount returns false.
func HasAccount(ctx context.Context, kubernetes client.SubResourceClientConstructor, namespace string) (bool, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: infrav1.WorkloadIdentityServiceAccount}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{exchangeAudience}}}
	err := kubernetes.SubResource("token").Create(ctx, account, request)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return false, fmt.Errorf("token of ServiceAccount %s: %w", accountIn(namespace), err)
	}
	return err == nil, nil
}

// storeToken stores a token and drops expired ones.
func (a *assertions) storeToken(key types.NamespacedName, fresh assertion, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, kept := range a.kept {
		if !now.Before(kept.expires) {
			delete(a.kept, other)
		}
	}
	a.kept[key] = fresh
}

// refusedToken explains an error of a token request. The API server issues no tokens in a namespace that is being deleted.
func refusedToken(account types.NamespacedName, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return &Error{Code: ServiceAccountNotFound, Message: fmt.Sprintf(
			"there is no ServiceAccount %s to sign in as: run kubectl create serviceaccount -n %s %s, and have the application trust the subject %s",
			account, account.Namespace, account.Name, tokenSubject(account))}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &Error{Code: NamespaceTerminating, Message: fmt.Sprintf(
			"namespace %s is being deleted, and the API server gives no token of ServiceAccount %s any more", account.Namespace, account)}
	}
	return fmt.Errorf("token of ServiceAccount %s: %w", account, err)
}

// TokenSource is the ServiceAccount whose token an identity of type WorkloadIdentity signs in with.
type TokenSource struct {
	// ManagersOwn is true if it is the ServiceAccount of the manager. Its token is in TokenFile, and Account is empty.
	ManagersOwn bool
	Account     types.NamespacedName
	// recorded is true if the identity used this credential under the established provider.
	recorded bool
}

// Subject returns the subject of the tokens of Account.
func (s TokenSource) Subject() string { return tokenSubject(s.Account) }

// FindTokenSource selects the token of an identity of type WorkloadIdentity: the manager's own if the identity may use it, else a
// ServiceAccount token of the identity's namespace. A Secret for ASO resources that was in use before the upgrade from the
// established provider continues with a token of the operator's ServiceAccount, which its application trusts.
func (p *Provider) FindTokenSource(ctx context.Context, identity *infrav1.AzureClusterIdentity, former Former) (out TokenSource, err error) {
	if former.Operator || !p.mayUseManagersOwn(identity.Namespace) {
		if out.recorded, err = p.formers.isRecorded(ctx, former); err != nil {
			return out, err
		}
	}
	switch {
	case out.recorded && former.Operator:
		out.Account = types.NamespacedName{Namespace: p.options.FormerNamespace, Name: operatorAccount}
	case out.recorded || p.mayUseManagersOwn(identity.Namespace):
		out.ManagersOwn = true
	default:
		out.Account = accountIn(identity.Namespace)
	}
	return out, nil
}

// selectToken sets the token of an identity of type WorkloadIdentity.
func (p *Provider) selectToken(ctx context.Context, identity *infrav1.AzureClusterIdentity, m *material, former Former) error {
	source, err := p.FindTokenSource(ctx, identity, former)
	if err != nil {
		return err
	}
	if source.ManagersOwn {
		m.kind, m.tokenFile = kindWorkload, p.options.TokenFile
		return nil
	}
	m.kind, m.subject = kindServiceAccount, source.Subject()
	m.assertion = func(ctx context.Context) (string, error) { return p.assertions.getToken(ctx, source.Account) }
	if _, err := m.assertion(ctx); err != nil {
		code := CodeOf(err)
		switch {
		case code != "" && source.recorded:
			return &Error{Code: code,
				Message: fmt.Sprintf("%s: %s; or remove its entry from ConfigMap %s/%s, after which it signs in as ServiceAccount %s",
					m.identity, err, p.options.FormerNamespace, FormerRecordName, accountIn(identity.Namespace))}
		case code != "":
			return &Error{Code: code, Message: fmt.Sprintf(
				"%s: spec.type %s: the manager runs with --%s=%s, and %s; if the application trusts the manager's own ServiceAccount, add %s to the manager's --%s",
				describeIdentity(identity), identity.Spec.Type, TenancyFlag, Isolated, err, identity.Namespace, ManagerNamespacesFlag)}
		}
		return fmt.Errorf("%s: %w", describeIdentity(identity), err)
	}
	return nil
}
