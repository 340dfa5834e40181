package azuremanagedcontrolplane

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const workloadKubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
	"clusters":[{"name":"c","cluster":{"server":"https://c1"}}],"users":[{"name":"u","user":{"token":"t"}}]}`

// TestClusterInfo writes cluster-info to API servers that answer, refuse, and cannot be reached.
func TestClusterInfo(t *testing.T) {
	for name, test := range map[string]struct {
		// status and body are the answer of the API server. Without a status, it closes the connection.
		status     int
		body       string
		reason     string
		text, lack string
	}{
		"written": {status: 200, body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cluster-info","namespace":"kube-public"}}`,
			reason: infrav1.ReadyReason},
		"without a right": {status: 403, body: `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403,
			"message":"configmaps \"cluster-info\" is forbidden: User \"x\" cannot get resource"}`,
			reason: infrav1.WorkloadClusterRefusedReason, text: "adminGroupObjectIDs", lack: "not reachable"},
		"not signed in": {status: 401, body: `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Unauthorized","code":401,"message":"Unauthorized"}`,
			reason: infrav1.WorkloadClusterRefusedReason, text: "refuses the provider's identity", lack: "not reachable"},
		"refused by a webhook": {status: 400, body: `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"BadRequest","code":400,
			"message":"admission webhook \"policy\" denied the request"}`,
			reason: infrav1.WorkloadClusterRefusedReason, text: `admission webhook "policy" denied the request`, lack: "RBAC Cluster Admin"},
		"not reachable": {reason: infrav1.WorkloadClusterUnreachableReason, text: "not reachable from the manager"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if test.status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			defer server.Close()
			kind := &Kind{Workload: func([]byte) (corev1client.ConfigMapsGetter, error) {
				return corev1client.NewForConfig(&rest.Config{Host: server.URL})
			}}
			got := kind.reconcileClusterInfo(t.Context(), []byte(workloadKubeconfig))
			if got.Reason != test.reason || (got.Status == metav1.ConditionTrue) != (test.reason == infrav1.ReadyReason) ||
				!strings.Contains(got.Message, test.text) || test.lack != "" && strings.Contains(got.Message, test.lack) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
