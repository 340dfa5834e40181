package virtual

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// createSubResource answers requests for tokens of ServiceAccounts.
func (s *Scenario) createSubResource(ctx context.Context, c client.Client, name string, object, content client.Object,
	options ...client.SubResourceCreateOption) error {
	request, isToken := content.(*authenticationv1.TokenRequest)
	if !isToken || s.IssueToken == nil || len(request.Spec.Audiences) != 1 {
		return c.SubResource(name).Create(ctx, object, content, options...)
	}
	account := client.ObjectKeyFromObject(object)
	if err := c.Get(ctx, account, &corev1.ServiceAccount{}); err != nil {
		return err
	}
	lifetime := time.Hour
	if seconds := request.Spec.ExpirationSeconds; seconds != nil {
		lifetime = time.Duration(*seconds) * time.Second
	}
	request.Status = authenticationv1.TokenRequestStatus{Token: s.IssueToken(account, request.Spec.Audiences[0], lifetime),
		ExpirationTimestamp: metav1.NewTime(time.Now().Add(lifetime))}
	return nil
}
