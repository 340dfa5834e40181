package diagnostics

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Users are authenticated by a TokenReview and authorized by a SubjectAccessReview.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// within is the time limit for both reviews.
const within = 10 * time.Second

// reviews authenticates and authorizes requests with the API server.
type reviews struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
}

// reviewed returns a filter that serves only users who are authorized for the method and path. Its client has a rate limit of its
// own, so that many requests to it do not use up the manager's limit.
func reviewed(config *rest.Config, httpClient *http.Client) (metricsserver.Filter, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = 10, 20, nil
	authentication, err := authenticationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("client for TokenReviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("client for SubjectAccessReviews: %w", err)
	}
	r := &reviews{tokens: authentication.TokenReviews(), access: authorization.SubjectAccessReviews()}
	return func(log logr.Logger, handler http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			ctx, cancel := context.WithTimeout(request.Context(), within)
			defer cancel()
			status, why, err := r.of(ctx, request)
			if err != nil {
				log.Error(err, "The user of a request for diagnostics cannot be authenticated or authorized", "path", request.URL.Path)
			}
			if status != http.StatusOK {
				http.Error(w, why, status)
				return
			}
			handler.ServeHTTP(w, request)
		}), nil
	}, nil
}

// of returns the HTTP status for a request and the message of a refusal. The error is the API server's.
func (r *reviews) of(ctx context.Context, request *http.Request) (status int, why string, err error) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, "Unauthorized: send a token of Kubernetes as Authorization: Bearer", nil
	}
	known, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}},
		metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusInternalServerError, "Authentication failed", fmt.Errorf("TokenReview: %w", err)
	case !known.Status.Authenticated:
		return http.StatusUnauthorized, "Unauthorized: the token is not valid in this cluster", nil
	}
	user, extra := known.Status.User, map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	wanted := &authorizationv1.NonResourceAttributes{Path: request.URL.Path, Verb: strings.ToLower(request.Method)}
	allowed, err := r.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra, NonResourceAttributes: wanted,
	}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusInternalServerError, "Authorization failed", fmt.Errorf("SubjectAccessReview: %w", err)
	case !allowed.Status.Allowed:
		return http.StatusForbidden, fmt.Sprintf("Forbidden: %s may not %s %s", user.Username, wanted.Verb, wanted.Path), nil
	}
	return http.StatusOK, "", nil
}
