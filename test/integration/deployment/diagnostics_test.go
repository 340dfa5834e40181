package deployment_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestDiagnostics requests metrics and profiles from a manager with the rights of the manifests: with the right to read them, without
// it, and without authentication.
func TestDiagnostics(t *testing.T) {
	stage := harness.NewStage(t, environment)
	installManifests(t)
	binary := harness.BuildManager(t)
	profiler := ports.Free(t)
	plain := startPod(stage, t, binary)
	startPod(stage, t, binary, "--profiler-address="+profiler)
	waitListening(stage, profiler)

	account := func(name string, role string) string {
		stage.CreateObject(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: name}})
		if role != "" {
			stage.CreateObject(&rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: stage.Namespace + "-" + name},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: stage.Namespace, Name: name}},
			})
		}
		return requestToken(t, stage.Namespace, name)
	}
	stage.CreateObject(&rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: stage.Namespace + "-profiles"},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/debug/pprof/*"}, Verbs: []string{"get"}}},
	})
	collector, developer, stranger := account("collector", "capz-system-metrics-reader"), account("developer", stage.Namespace+"-profiles"),
		account("stranger", "")

	metrics := "https://" + plain.Diagnostics + "/metrics"
	beside := "https://" + plain.Diagnostics + "/debug/pprof/heap"
	heap, level := "https://"+profiler+"/debug/pprof/heap", "https://"+plain.Diagnostics+"/debug/flags/v"
	for name, test := range map[string]struct {
		reason, url, token string
		status             int
	}{
		"metrics with the role": {"the role of the manifests suffices, and the manager may review tokens", metrics,
			collector, http.StatusOK},
		"metrics for a stranger": {"metrics show names of kinds and types, and the load of the manager", metrics, stranger,
			http.StatusForbidden},
		"metrics without a token":           {"a request without a token has no account", metrics, "", http.StatusUnauthorized},
		"metrics with a made-up token":      {"the token belongs to no account", metrics, "made.up.token", http.StatusUnauthorized},
		"level of the log for a stranger":   {"only the administrator may set the level of the log", level, stranger, http.StatusForbidden},
		"profiles beside metrics":           {"without the flag there are none", beside, developer, http.StatusNotFound},
		"profiles with the role":            {"the flag was given", heap, developer, http.StatusOK},
		"profiles with the role of metrics": {"profiles show more than metrics", heap, collector, http.StatusForbidden},
		"profiles without a token":          {"profiles need an account, as metrics do", heap, "", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := getWithToken(t, test.url, test.token)
			if status != test.status {
				t.Errorf("%s: %d, want %d: %.200s", test.reason, status, test.status, body)
			}
		})
	}
	if _, body := getWithToken(t, metrics, collector); !strings.Contains(body, "capz_azure_operations") &&
		!strings.Contains(body, "controller_runtime_") {
		t.Errorf("these are no metrics of a manager: %.200s", body)
	}
	for name, address := range map[string]string{"diagnostics": plain.Diagnostics, "webhooks": plain.Webhooks, "profiles": profiler} {
		if got := negotiateProtocol(t, address); got == "h2" {
			t.Errorf("%s: the server speaks HTTP/2", name)
		}
	}
	setLogLevel(stage, plain.Diagnostics)
	if answersOK("http://" + profiler + "/debug/pprof/") {
		t.Error("profiles are served without TLS")
	}
}

// portForward stands for kubectl port-forward, because the manager is no Pod. It listens late, as kubectl does, which first asks the API
// server for a Pod.
const portForward = `
kubectl() {
	case "$1" in
	port-forward) command sleep 1; curl --silent %s; exec sleep 60;;
	*) command kubectl "$@";;
	esac
}
`

// setLogLevel runs the commands with which the page on logs changes the level of a manager.
func setLogLevel(stage *harness.Stage, diagnostics string) {
	t := stage.T
	t.Helper()
	const block = "kubectl create clusterrole capz-log-level"
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "logs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, commands, found := strings.Cut(string(page), block)
	commands, _, ended := strings.Cut(commands, "```")
	if !found || !ended {
		t.Fatal("docs/book/logs.md has no commands for the level")
	}
	stage.CreateObject(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "default"}})
	local := ports.Free(t)
	control := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { forwardPort(t, local, diagnostics) }))
	t.Cleanup(control.Close)
	// The manager has its lease in its own namespace.
	const lease = "lease controller-leader-election-capz --namespace capz-system"
	replaced := strings.NewReplacer(lease, lease, "capz-system", stage.Namespace, "localhost:8443", local, "capz-log-level", stage.Namespace+"-log-level")
	out := stage.RunShell("set -e\n" + fmt.Sprintf(portForward, control.URL) + replaced.Replace(block+commands))
	if want := "successfully set klog.logging.verbosity to 4"; !strings.Contains(out, want) {
		t.Errorf("the manager answered %q, want %q", out, want)
	}
}

// forwardPort connects an address with another one until the test ends.
func forwardPort(t testing.TB, from, to string) {
	listener, err := net.Listen("tcp", from)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(server, client)
				_ = server.Close()
			}()
			go func() {
				_, _ = io.Copy(client, server)
				_ = client.Close()
			}()
		}
	}()
}

// newInsecureClient is for servers that sign their own certificate.
func newInsecureClient(protocols ...string) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, NextProtos: protocols} // It is about who asks, not who answers.
}

// getWithToken sends a request with the token.
func getWithToken(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: newInsecureClient()}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

// waitListening waits until a server takes connections: one that signs its own certificate does so a little later than others.
func waitListening(stage *harness.Stage, address string) {
	stage.T.Helper()
	stage.Eventually(address+" takes connections", func() bool {
		connection, err := net.Dial("tcp", address)
		return err == nil && connection.Close() == nil
	})
}

// negotiateProtocol returns the protocol that a server chooses of HTTP/2 and HTTP/1.1.
func negotiateProtocol(t *testing.T, address string) string {
	t.Helper()
	connection, err := tls.Dial("tcp", address, newInsecureClient("h2", "http/1.1"))
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", address, err))
	}
	defer connection.Close()
	return connection.ConnectionState().NegotiatedProtocol
}

// answersOK reports whether a URL is answered with 200.
func answersOK(url string) bool {
	response, err := http.Get(url)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
