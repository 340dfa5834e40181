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
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,resourceNames=capz-workload-identity,verbs=create

const (
	// exchangeAudience is whom the tokens are for that Entra ID takes in exchange for its own.
	// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust
	exchangeAudience = "api://AzureADTokenExchange"
	// tokenLifetime is how long a token is asked for. The API server may give one that lives shorter or longer.
	tokenLifetime = time.Hour
)

// Subject is what a federated credential names to trust the identities of type WorkloadIdentity of a namespace.
func Subject(namespace string) string {
	return "system:serviceaccount:" + namespace + ":" + infrav1.WorkloadIdentityServiceAccount
}

// assertions are the tokens of ServiceAccounts that Entra ID takes in exchange for its own. They are kept in memory until a
// fifth of their life is left.
type assertions struct {
	kubernetes client.SubResourceClientConstructor
	now        func() time.Time

	mu   sync.Mutex
	kept map[string]assertion // by namespace
}

type assertion struct {
	token          string
	renew, expires time.Time
}

// get is a token of the ServiceAccount in namespace.
func (a *assertions) get(ctx context.Context, namespace string) (string, error) {
	a.mu.Lock()
	kept := a.kept[namespace]
	a.mu.Unlock()
	begun := a.now()
	if begun.Before(kept.renew) {
		return kept.token, nil
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: infrav1.WorkloadIdentityServiceAccount}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{exchangeAudience}, ExpirationSeconds: new(int64(tokenLifetime.Seconds())),
	}}
	if err := a.kubernetes.SubResource("token").Create(ctx, account, request); err != nil {
		if begun.Before(kept.expires) && !apierrors.IsNotFound(err) {
			return kept.token, nil
		}
		return "", refusedToken(namespace, err)
	}
	expires := request.Status.ExpirationTimestamp.Time
	a.keep(namespace, assertion{token: request.Status.Token, renew: begun.Add(expires.Sub(begun) * 4 / 5), expires: expires}, begun)
	return request.Status.Token, nil
}

// keep stores a token and drops those that have expired.
func (a *assertions) keep(namespace string, fresh assertion, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, kept := range a.kept {
		if !now.Before(kept.expires) {
			delete(a.kept, other)
		}
	}
	a.kept[namespace] = fresh
}

// refusedToken says why there is no token. The API server gives none in a namespace that is being deleted.
func refusedToken(namespace string, err error) error {
	account := namespace + "/" + infrav1.WorkloadIdentityServiceAccount
	switch {
	case apierrors.IsNotFound(err):
		return &Error{Code: ServiceAccountNotFound, Message: fmt.Sprintf(
			"there is no ServiceAccount %s to sign in as: run kubectl create serviceaccount -n %s %s, and have the application trust the subject %s",
			account, namespace, infrav1.WorkloadIdentityServiceAccount, Subject(namespace))}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &Error{Code: NamespaceTerminating, Message: fmt.Sprintf(
			"namespace %s is being deleted, and the API server gives no token of ServiceAccount %s any more", namespace, account)}
	}
	return fmt.Errorf("token of ServiceAccount %s: %w", account, err)
}

// workload fills in how an identity of type WorkloadIdentity proves itself: with the manager's own token where that may be
// used, else with one of the identity's namespace.
func (p *Provider) workload(ctx context.Context, identity *infrav1.AzureClusterIdentity, m *material) error {
	if p.managersOwn(identity.Namespace) {
		m.kind, m.tokenFile = kindWorkload, p.options.TokenFile
		return nil
	}
	namespace := identity.Namespace
	m.kind, m.subject = kindServiceAccount, Subject(namespace)
	m.assertion = func(ctx context.Context) (string, error) { return p.assertions.get(ctx, namespace) }
	if _, err := m.assertion(ctx); err != nil {
		if code := CodeOf(err); code != "" {
			return &Error{Code: code, Message: fmt.Sprintf(
				"%s: spec.type %s: the manager runs with --%s=%s, and %s; if the application trusts the manager's own ServiceAccount, add %s to the manager's --%s",
				describe(identity), identity.Spec.Type, TenancyFlag, Isolated, err, namespace, ManagerNamespacesFlag)}
		}
		return fmt.Errorf("%s: %w", describe(identity), err)
	}
	return nil
}
