package rights

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// TestMissingRightsAreNamed checks rights with an authorizer that cannot list them, as an authorization webhook.
func TestMissingRightsAreNamed(t *testing.T) {
	wanted, err := neededRights(Scope{LeaseNamespace: "capz-system"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		reason  string
		allowed func(*authorizationv1.ResourceAttributes) bool
		missing string
	}{
		"all": {"it gives all of them when it is asked for each", func(*authorizationv1.ResourceAttributes) bool { return true }, ""},
		"no name": {"a right for one name is asked for with it", func(a *authorizationv1.ResourceAttributes) bool {
			return a.Resource != "serviceaccounts" || a.Name != ""
		}, ""},
		"one less": {"the message names the missing right", func(a *authorizationv1.ResourceAttributes) bool {
			return a.Resource != "azureclusters" || a.Subresource != "status"
		}, "patch azureclusters/status.infrastructure.cluster.x-k8s.io in all namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				w.Header().Set("Content-Type", "application/json")
				if strings.HasSuffix(r.URL.Path, "/selfsubjectrulesreviews") {
					_ = json.NewEncoder(
						w).Encode(authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{Incomplete: true}})
					return
				}
				review := authorizationv1.SelfSubjectAccessReview{}
				if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
					t.Error(err)
				}
				review.Status.Allowed = test.allowed(review.Spec.ResourceAttributes)
				_ = json.NewEncoder(w).Encode(review)
			}))
			defer server.Close()
			client, err := authorizationclient.NewForConfig(&rest.Config{Host: server.URL, QPS: -1,
				ContentConfig: rest.ContentConfig{AcceptContentTypes: "application/json", ContentType: "application/json"}})
			if err != nil {
				t.Fatal(err)
			}
			report, err := CheckRights(t.Context(), client, Scope{LeaseNamespace: "capz-system"})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(report.Missing, "; "); got != test.missing {
				t.Errorf("%s: missing %q, want %q", test.reason, got, test.missing)
			}
			if most := len(wanted) + 2; requests > most {
				t.Errorf("%d requests, want at most %d", requests, most)
			}
		})
	}
}

// TestDescribeIsBounded lists many rights.
func TestDescribeIsBounded(t *testing.T) {
	var many []right
	for _, letter := range "abcdefghijklmnopqrstuvwxyz" {
		many = append(many, right{resource: string(letter), verb: "get"}, right{resource: string(letter), verb: "list"})
	}
	got := describeRights(many)
	if len(got) != maxShown+1 || got[0] != "get, list a in all namespaces" || got[maxShown] != "and 6 more" {
		t.Errorf("the list is %q", got)
	}
}
