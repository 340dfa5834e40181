package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ManagerUser is whom the API server takes the managers for: the ServiceAccount of the release.
const ManagerUser = "system:serviceaccount:capz-system:capz-manager"

// PlainGroup is a group of kinds that this repository does not use. The release has no rights to such kinds, and managers report this.
const PlainGroup = "plain.example.com"

// bindRights gives the user of the managers the roles that the release binds to its ServiceAccount in all namespaces.
func (e *Environment) bindRights(root string) error {
	for _, file := range []string{"role.yaml", "secrets_role.yaml"} {
		raw, err := os.ReadFile(filepath.Join(root, "config", "rbac", file))
		if err != nil {
			return err
		}
		role := &rbacv1.ClusterRole{}
		if err := yaml.UnmarshalStrict(raw, role); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		binding := &rbacv1.ClusterRoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: ManagerUser}},
		}
		binding.Name = role.Name
		if err := e.Client.Create(context.Background(), role); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := e.Client.Create(context.Background(), binding); err != nil {
			return fmt.Errorf("binding of %s: %w", file, err)
		}
		if err := e.waitGranted(role); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return e.bindPolicy(root)
}

// bindPolicy makes the API server enforce the release's admission policy for Secrets that managers write.
func (e *Environment) bindPolicy(root string) error {
	raw, err := os.ReadFile(filepath.Join(root, "config", "policy", "secret_types.yaml"))
	if err != nil {
		return err
	}
	policy, binding, ok := strings.Cut(string(raw), "\n---\n")
	if !ok {
		return errors.New("config/policy/secret_types.yaml is not a policy and its binding")
	}
	for text, object := range map[string]client.Object{policy: &admissionregistrationv1.ValidatingAdmissionPolicy{},
		binding: &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}} {
		if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
			return fmt.Errorf("secret_types.yaml: %w", err)
		}
		if err := e.Client.Create(context.Background(), object); err != nil {
			return fmt.Errorf("secret_types.yaml: %w", err)
		}
	}
	return nil
}

// waitGranted waits until the API server grants the managers the rights of the role: its authorizer learns of roles and bindings by
// watches of its own, some time after they were written.
func (e *Environment) waitGranted(role *rbacv1.ClusterRole) error {
	rule := role.Rules[0]
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               ManagerUser,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[0]},
	}}
	err := wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, Patience, true, func(ctx context.Context) (bool, error) {
		asked := review.DeepCopy()
		err := e.Client.Create(ctx, asked)
		return asked.Status.Allowed, err
	})
	if err != nil {
		return fmt.Errorf("%s is bound, and its rights do not come into force: %w", role.Name, err)
	}
	return nil
}

// managerConfig returns a configuration for the API server with the rights of the release.
func (e *Environment) managerConfig() *rest.Config {
	config := rest.CopyConfig(e.managers)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			e.used.recordRight(request)
			response, err := next.RoundTrip(request)
			if err == nil && response.StatusCode == http.StatusForbidden {
				err = e.refused.recordRefusal(request, response)
			}
			return response, err
		})
	})
	return config
}

// refusals are the requests that managers had no right to, each once.
type refusals struct {
	mu   sync.Mutex
	seen map[string]bool
}

// recordRefusal keeps the request if it is a right that was missing: webhooks, and namespaces on their way out, refuse with the same
// status.
func (r *refusals) recordRefusal(request *http.Request, response *http.Response) error {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if !bytes.Contains(body, []byte(ManagerUser)) || strings.HasPrefix(request.URL.Path, "/apis/"+PlainGroup+"/") {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[request.Method+" "+request.URL.Path] = true
	return nil
}

// asError returns an error that names the refused requests.
func (r *refusals) asError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) == 0 {
		return nil
	}
	return fmt.Errorf("the managers' role in config/rbac lacks the rights to\n%s", strings.Join(slices.Sorted(maps.Keys(r.seen)), "\n"))
}
