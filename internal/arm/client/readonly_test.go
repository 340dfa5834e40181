package client_test

import (
	"net/http"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestReadOnly sends each kind of request with a client that only reads.
func TestReadOnly(t *testing.T) {
	var got string
	writing := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
		got = r.Method
		_, _ = w.Write([]byte("{}"))
	})
	reading := writing.WithAPIVersions(nil).ReadOnly().ForTenant("tenant").WithAPIVersion("a/b", "1")
	for name, test := range map[string]struct {
		reason  string
		client  *client.Client
		request client.Request
		sent    bool
	}{
		"read":              {"reads change nothing", reading, client.Request{Method: http.MethodGet}, true},
		"credentials":       {"AKS returns them to a POST", reading, client.Request{Method: http.MethodPost, SubPath: "listClusterUserCredential"}, true},
		"create":            {"a write", reading, client.Request{Method: http.MethodPut}, false},
		"change":            {"a write", reading, client.Request{Method: http.MethodPatch}, false},
		"delete":            {"a write", reading, client.Request{Method: http.MethodDelete}, false},
		"delete instances":  {"an action that changes Azure", reading, client.Request{Method: http.MethodPost, SubPath: "delete"}, false},
		"below a list":      {"not an action of Azure", reading, client.Request{Method: http.MethodPost, SubPath: "list/delete"}, false},
		"the client itself": {"the copy does not change it", writing, client.Request{Method: http.MethodPut}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got = ""
			test.request.ID, test.request.APIVersion = id, "2020-01-01"
			_, err := test.client.Do(t.Context(), test.request)
			if sent := got != ""; sent != test.sent || (err == nil) != test.sent {
				t.Errorf("%s: sent %t, error %v", test.reason, sent, err)
			}
		})
	}
}
