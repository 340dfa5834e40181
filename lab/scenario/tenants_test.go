package scenario

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestRights asks the API server for the rights that the release gives, reads metrics as the release serves them, and
// binds the right to Secrets in one namespace with the commands of the book.
func TestRights(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	for _, subject := range []string{"view --user bob", "edit --user alice", "admin --user carol"} {
		l.runProgram("kubectl", append([]string{"create", "rolebinding", strings.Fields(subject)[2], "--namespace", "default", "--clusterrole"},
			strings.Fields(subject)...)...)
	}
	for name, tc := range map[string]struct {
		reason string
		who    string
		right  string
		want   string
	}{
		"view":             {"people with the role view list objects", "bob", "list azuremachines", "yes"},
		"view changes":     {"people with the role view change nothing", "bob", "patch azuremachines", "no"},
		"edit":             {"a tenant makes clusters", "alice", "create azureclusters", "yes"},
		"edit identities":  {"tenants may not choose the credentials", "alice", "create azureclusteridentities", "no"},
		"admin":            {"as edit", "carol", "delete azuremanagedcontrolplanes", "yes"},
		"admin identities": {"as edit", "carol", "patch azureclusteridentities", "no"},
		"status":           {"it is the manager's word", "carol", "patch azureclusters --subresource status", "no"},
		"bootstrap manager": {"it reads the version of every control plane",
			"system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager", "get azuremanagedcontrolplanes", "yes"},
		"manager": {"deleting is for those who own the object", "system:serviceaccount:capz-system:capz-manager",
			"delete azureclusters", "no"},
		"manager's token": {"the manager cannot act as another account", "system:serviceaccount:capz-system:capz-manager", "impersonate users",
			"no"},
	} {
		t.Run(name, func(t *testing.T) {
			// It ends with status 1 for a no.
			out, _ := l.labFor(t, nil).tryProgram("kubectl",
				append([]string{"auth", "can-i", "--namespace", "default", "--as", tc.who}, strings.Fields(tc.right)...)...)
			if got := strings.TrimSpace(out); got != tc.want {
				t.Errorf("%s: may %s %s? %q, want %q", tc.reason, tc.who, tc.right, got, tc.want)
			}
		})
	}

	// The manager caches the API server's answers about an account for a while, so these are two accounts.
	l.runProgram("kubectl", "create", "clusterrolebinding", "prometheus", "--clusterrole", "capz-system-metrics-reader", "--serviceaccount",
		"default:prometheus")
	if status, body := l.readMetrics("prometheus"); status != http.StatusOK || !strings.Contains(body, "capz_reconciliation_duration_seconds") {
		t.Errorf("metrics for an account that may read them: status %d, %d bytes", status, len(body))
	}
	if status, _ := l.readMetrics("stranger"); status != http.StatusForbidden {
		t.Errorf("metrics for an account that may not read them: status %d, want 403", status)
	}

	l.bindSecretsInDefault()
	l.expectIdentity("default", "True", "")
	l.withoutRights(func() {
		l.expectIdentity("elsewhere", "False", "cannot get resource \"secrets\"")
		l.runProgram("kubectl", "delete", "azureclusteridentity", "principal", "--namespace", "elsewhere")
	})
}

// readMetrics returns those of our manager, as its Deployment serves them to a ServiceAccount, which is made.
func (l *lab) readMetrics(account string) (status int, body string) {
	l.t.Helper()
	l.runProgram("kubectl", "create", "serviceaccount", account)
	token := strings.TrimSpace(l.runProgram("kubectl", "create", "token", account))
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet,
		"https://"+l.loadSettings().DiagnosticsAddress(settings.Azure)+"/metrics", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	// The manager signs its certificate itself.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	response, err := client.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

// bindSecretsInDefault runs the commands of the book's page on rights that bind the right to Secrets in one namespace.
func (l *lab) bindSecretsInDefault() {
	l.t.Helper()
	for _, b := range l.codeBlocks() {
		if b.Language != "sh" || b.Page != "docs/book/kubernetes-rights.md" || !strings.Contains(b.Text, "--secret-namespaces") {
			continue
		}
		l.runBlock(b.Text)
		l.runProgram("kubectl", "wait", "deployment/capz-controller-manager", "--namespace", "capz-system",
			"--for=jsonpath={.status.observedGeneration}=2", "--timeout", patience.String())
		l.runProgram("kubectl", "wait", "deployment/capz-controller-manager", "--namespace", "capz-system", "--for=condition=Available",
			"--timeout",
			patience.String())
		return
	}
	l.t.Fatal("the book's page on rights has no commands that bind the right to Secrets by namespace")
}

// expectIdentity makes a service principal in the namespace, with its Secret, and looks what becomes of it.
func (l *lab) expectIdentity(namespace, ready, text string) {
	l.t.Helper()
	if namespace != "default" {
		l.runProgram("kubectl", "create", "namespace", namespace)
	}
	l.applyManifest(fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: principal, namespace: %[1]s}
stringData: {clientSecret: %[2]s}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: principal, namespace: %[1]s}
spec:
  type: ServicePrincipal
  tenantID: %[3]s
  clientID: %[4]s
  clientSecret: {name: principal, namespace: %[1]s}
`, namespace, l.loadSettings().ClientSecret, settings.TenantID, settings.ClientID))
	l.runProgram("kubectl", "wait", "azureclusteridentity/principal", "--namespace", namespace, "--for=condition=Ready="+ready, "--timeout",
		patience.String())
	if message := l.runProgram("kubectl", "get", "azureclusteridentity/principal", "--namespace", namespace, "-o",
		"jsonpath={"+conditionPath("Ready", "message")+"}"); !strings.Contains(message, text) {
		l.t.Errorf("the message of the identity in %s is %q, want %q in it", namespace, message, text)
	}
}
