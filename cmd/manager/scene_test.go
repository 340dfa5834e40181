package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// scene is a running manager with the values that it must not reveal.
type scene struct {
	*harness.Stage
	t        *testing.T
	canaries canaries

	command               *os.Process
	out                   *bytes.Buffer // to be read when the process has ended
	ended                 chan error
	diagnostics, profiler string

	mu sync.Mutex
	// passwords are those that the manager made up for Windows machines.
	passwords map[string]bool
}

// newScene starts the manager with everything logged.
func newScene(t *testing.T, format string) *scene {
	t.Helper()
	s := &scene{
		Stage: harness.NewStage(t, environment), t: t, canaries: canaries{}, ended: make(chan error, 1), passwords: map[string]bool{},
		diagnostics: ports.Free(t), profiler: ports.Free(t),
	}
	azure := httptest.NewTLSServer(http.HandlerFunc(s.recordRequest))
	t.Cleanup(azure.Close)
	authority := filepath.Join(t.TempDir(), "azure.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: azure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	health, webhooks := ports.Free(t), ports.Free(t)
	command, out := newManagerProcess(t, []string{
		"--v=10", "--logging-format=" + format, "--namespace=" + s.Namespace, "--health-addr=" + health,
		"--diagnostics-address=" + s.diagnostics, "--insecure-diagnostics", "--profiler-address=" + s.profiler,
		"--webhook-port=" + webhooks[strings.LastIndexByte(webhooks, ':')+1:], "--webhook-cert-dir=" + environment.CertificateFolder(),
	}, []string{
		"SSL_CERT_FILE=" + authority, "AZURE_AUTHORITY_HOST=" + azure.URL, "AZURE_RESOURCE_MANAGER_ENDPOINT=" + azure.URL,
		"AZURE_RESOURCE_MANAGER_AUDIENCE=https://management.core.windows.net/", "AZURE_SDK_GO_LOGGING=all", "GOTRACEBACK=all",
	})
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s.command, s.out = command.Process, out
	go func() { s.ended <- command.Wait() }()
	if err := awaitReady("http://"+health+"/readyz", s.ended); err != nil {
		t.Fatal(err)
	}
	return s
}

// madeUp is a password in the body of a request.
var madeUp = regexp.MustCompile(`"adminPassword":"([^"]+)"`)

// recordRequest is Azure that keeps the passwords it gets.
func (s *scene) recordRequest(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	for _, found := range madeUp.FindAllSubmatch(raw, -1) {
		s.passwords[string(found[1])] = true
	}
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(raw))
	s.Azure.Handler().ServeHTTP(w, r)
}

// createInputs creates clusters of both families with a canary in every secret input, and adds the secrets that the manager
// derives from them.
func (s *scene) createInputs() {
	s.t.Helper()
	s.canaries.addValue("client secret", s.Azure.ClientSecret)
	s.CreateIdentity()
	s.createIdentity("refused", infrav1.ServicePrincipal, "clientSecret",
		s.canaries.addValue("wrong client secret", s.NewSecretValue("wrong")))
	certificate, key := azuretest.NewCertificate(s.t)
	s.canaries.addValue("private key", strings.Split(string(key), "\n")[2])
	s.createIdentity("certificate", infrav1.ServicePrincipalCertificate, "certificate", string(certificate)+string(key))
	s.CreateObject(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: infrav1.WorkloadIdentityServiceAccount}})
	s.createIdentity("workload", infrav1.WorkloadIdentity, "", "")
	if err := errors.Join(
		s.Azure.TrustCertificate(s.Azure.ClientID, certificate),
		s.Azure.TrustSubject(s.Azure.ClientID, s.TrustTokens(), "system:serviceaccount:"+s.Namespace+":"+infrav1.WorkloadIdentityServiceAccount),
	); err != nil {
		s.t.Fatal(err)
	}
	s.CreateCluster(s.AzureCluster("c1"))
	// To a client that has signed in, the region does not exist, which costs least.
	refused := map[string]string{"certificate": "nowhere", "refused": "AADSTS7000215", "workload": "nowhere"}
	for identity := range refused {
		cluster := s.AzureCluster(identity)
		cluster.Spec.IdentityRef.Name, cluster.Spec.Location = identity, "nowhere"
		s.CreateCluster(cluster)
	}
	s.createMachine()
	s.createManagedCluster()
	for name, why := range refused {
		harness.WaitFor(s.Stage, &infrav1.AzureCluster{}, name, "refused with "+why,
			func(c *infrav1.AzureCluster) bool { return strings.Contains(harness.EncodeStatus(c), why) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.passwords, s.canaries["Windows password"])
	for password := range s.passwords {
		s.canaries.addValue("password that was made up", password)
	}
	if want := 8; len(s.canaries) != want {
		s.t.Errorf("there are %d canaries, want %d: %v", len(s.canaries), want, s.canaries)
	}
}

// createIdentity makes an identity with a Secret of its name; without a key it has none.
func (s *scene) createIdentity(name string, of infrav1.IdentityType, key, value string) {
	s.t.Helper()
	identity := s.NewIdentity()
	identity.Name, identity.Spec.Type, identity.Spec.ClientSecret = name, of, corev1.SecretReference{}
	if key != "" {
		identity.Spec.ClientSecret = corev1.SecretReference{Namespace: s.Namespace, Name: name}
		s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
			Data: map[string][]byte{key: []byte(value)}})
	}
	s.CreateObject(identity)
}

// createMachine makes a machine with bootstrap data, protected settings and a password that the manager makes up.
func (s *scene) createMachine() {
	s.t.Helper()
	s.WaitClusterProvisioned("c1")
	machine := s.AzureMachine("c1", "c1-md")
	machine.Spec.OSDisk.OSType = infrav1.WindowsOS
	machine.Spec.VMExtensions = []infrav1.VMExtension{{
		Name: "script", Publisher: "Microsoft.Azure.Extensions", Version: "2.1",
		ProtectedSettings: infrav1.Tags{"commandToExecute": "echo " + s.canaries.addValue("protected settings",
			"protected-settings-"+s.Namespace)},
	}}
	s.CreateMachine(machine, harness.Worker, "")
	s.WaitMachineProvisioned("c1-md")
	data := &corev1.Secret{}
	s.ReadObject(data, "c1-md")
	s.canaries.addValue("bootstrap data", regexp.MustCompile(`bootstrap-data-[0-9A-Za-z-]+`).FindString(string(data.Data["value"])))
}

// createManagedCluster makes an AKS cluster with a password of its Windows nodes, for which there is a kubeconfig then.
func (s *scene) createManagedCluster() {
	s.t.Helper()
	s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "windows"}, Data: map[string][]byte{
		"password": []byte(s.canaries.addValue("Windows password", s.NewSecretValue("Windows-Passw0rd"))),
	}})
	controlPlane := s.ControlPlane("a1")
	controlPlane.Spec.ASOManagedClusterPatches = []string{
		`{"spec":{"windowsProfile":{"adminUsername":"capi","adminPassword":{"name":"windows","key":"password"}}}}`}
	s.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
	s.WaitManagedClusterReady("a1")
	kubeconfig := &corev1.Secret{}
	s.ReadObject(kubeconfig, "a1-kubeconfig")
	for i, found := range regexp.MustCompile(
		`(?:client-key-data|token): ?"?([A-Za-z0-9+/=._-]{24,})`).FindAllSubmatch(kubeconfig.Data["value"], -1) {
		s.canaries.addValue(fmt.Sprintf("credential %d of the kubeconfig", i), string(found[1]))
	}
}

// collectOutput returns all output in Kubernetes and Azure: objects of the provider except for the input of users, events, and
// the request log.
func (s *scene) collectOutput() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedClusterList{},
		&infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureClusterIdentityList{}, &corev1.EventList{}, &eventsv1.EventList{},
	} {
		if err := s.Client.List(s.t.Context(), list, client.InNamespace(s.Namespace)); err != nil {
			s.t.Fatal(err)
		}
		raw, err := json.Marshal(list)
		if err != nil {
			s.t.Fatal(err)
		}
		var parsed struct{ Items []map[string]any }
		if err := json.Unmarshal(raw, &parsed); err != nil {
			s.t.Fatal(err)
		}
		if len(parsed.Items) == 0 && !strings.Contains(fmt.Sprintf("%T", list), "v1.EventList") {
			s.t.Errorf("there is nothing to look at in %T", list)
		}
		for _, item := range parsed.Items {
			delete(item, "spec")
		}
		if raw, err = json.Marshal(parsed.Items); err != nil {
			s.t.Fatal(err)
		}
		out[fmt.Sprintf("%T", list)] = string(raw)
	}
	raw, err := json.Marshal(s.Azure.Requests())
	if err != nil {
		s.t.Fatal(err)
	}
	out["the request log"] = string(raw)
	return out
}

// readProfile returns one of the manager's profiles, which it serves to who may have them.
func (s *scene) readProfile(token, name string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "https://"+s.profiler+"/debug/pprof/"+name, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	// It signs its own certificate.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	return readAnswer(s.t, &http.Client{Transport: transport}, request)
}

// readMetrics returns those of the manager.
func (s *scene) readMetrics() string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.diagnostics+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return readAnswer(s.t, http.DefaultClient, request)
}

func readAnswer(t *testing.T, client *http.Client, request *http.Request) string {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || len(raw) == 0 {
		t.Fatalf("%s: %d, %d bytes, %v", request.URL, response.StatusCode, len(raw), err)
	}
	return string(raw)
}

// createDeveloper returns the token of an account that may have profiles.
func (s *scene) createDeveloper() string {
	s.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "developer"}}
	s.CreateObject(account)
	name := s.Namespace + "-profiles"
	s.CreateObject(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/debug/pprof/*"}, Verbs: []string{"get"}}}})
	s.CreateObject(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.Namespace, Name: account.Name}},
	})
	request := &authenticationv1.TokenRequest{}
	if err := s.Client.SubResource("token").Create(s.t.Context(), account, request); err != nil {
		s.t.Fatal(err)
	}
	return request.Status.Token
}
