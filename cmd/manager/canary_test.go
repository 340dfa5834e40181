package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// canaries are values that nobody may find, by what they are.
type canaries map[string]string

// add has a value looked for as it is, and as Secrets and hex dumps show it.
func (c canaries) add(what, value string) string {
	c[what] = value
	c[what+", base64"] = strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(value)), "=")
	return value
}

// accessToken is any JSON Web Token: those for Azure and Kubernetes are made while the test runs.
var accessToken = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)

// find fails the test for every canary in a text.
func (c canaries) find(t *testing.T, where, text string) {
	t.Helper()
	for what, value := range c {
		// A hex dump has 16 characters per line.
		for _, form := range []string{value, value[:min(16, len(value))]} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s shows up in %s: %q", what, where, text[max(0, at-200):min(len(text), at+20)])
				break
			}
		}
	}
	if found := accessToken.FindString(text); found != "" {
		t.Errorf("an access token shows up in %s: %.40s...", where, found)
	}
}

// TestCanaries runs the manager as loud as it gets, in both formats, gives it every secret-like input there is, and looks for
// each in everything that people get to see.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			found := canaries{}
			m := loud(t, stage, format)
			inputs(t, stage, found)
			t.Logf("%d canaries", len(found))
			for _, path := range []string{"/metrics"} {
				found.find(t, path, get(t, "http://"+m.diagnostics+path))
			}
			for _, profile := range []string{"goroutine?debug=2", "heap?debug=1", "allocs?debug=1", "block?debug=1", "mutex?debug=1", "cmdline"} {
				found.find(t, profile, get(t, "http://"+m.profiler+"/debug/pprof/"+profile))
			}
			for where, text := range shown(t, stage) {
				found.find(t, where, text)
			}
			// This is what a crash prints, too: the stacks of all goroutines.
			if err := m.command.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			<-m.ended
			log := m.out.String()
			for _, line := range []string{"Response", "GET https://"} {
				if !strings.Contains(log, line) {
					t.Errorf("the log is not as loud as it gets: it has no %q", line)
				}
			}
			if !strings.Contains(log, "goroutine ") {
				t.Error("the manager did not crash")
			}
			found.find(t, "the log", log)
		})
	}
}

// process is a manager that runs.
type process struct {
	command               *os.Process
	out                   *bytes.Buffer
	ended                 chan error
	diagnostics, profiler string
}

// loud starts the manager in front of the stage's Azure with everything logged.
func loud(t *testing.T, stage *harness.Stage, format string) *process {
	t.Helper()
	p := &process{ended: make(chan error, 1), diagnostics: harness.FreeAddress(t), profiler: harness.FreeAddress(t)}
	health, webhooks := harness.FreeAddress(t), harness.FreeAddress(t)
	authority := filepath.Join(t.TempDir(), "azure.crt")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: stage.Azure.TLS.Certificates[0].Certificate[0]})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	command, out := manager(t, []string{
		"--v=10", "--logging-format=" + format, "--namespace=" + stage.Namespace, "--health-addr=" + health,
		"--diagnostics-address=" + p.diagnostics, "--insecure-diagnostics", "--profiler-address=" + p.profiler,
		"--webhook-port=" + webhooks[strings.LastIndexByte(webhooks, ':')+1:], "--webhook-cert-dir=" + environment.CertificateFolder(),
	}, []string{
		"SSL_CERT_FILE=" + authority, "AZURE_AUTHORITY_HOST=" + stage.Azure.URL, "AZURE_RESOURCE_MANAGER_ENDPOINT=" + stage.Azure.URL,
		"AZURE_RESOURCE_MANAGER_AUDIENCE=https://management.core.windows.net/", "AZURE_SDK_GO_LOGGING=all", "GOTRACEBACK=all",
	})
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p.command, p.out = command.Process, out
	go func() { p.ended <- command.Wait() }()
	if err := ready("http://"+health+"/readyz", p.ended); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// inputs makes clusters of both families with a canary wherever something secret goes in.
func inputs(t *testing.T, stage *harness.Stage, found canaries) {
	t.Helper()
	found.add("client secret", stage.Azure.ClientSecret)
	stage.CreateIdentity()
	refused := stage.Identity()
	refused.Name, refused.Spec.ClientSecret.Name = "refused", "refused"
	stage.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "refused"}, Data: map[string][]byte{"clientSecret": []byte(found.add("wrong client secret", stage.Secret("wrong")))}})
	stage.Create(refused)
	withCertificate(stage, found)

	for name, identity := range map[string]string{"c1": harness.IdentityName, "c2": "certificate", "c3": "refused"} {
		cluster := stage.AzureCluster(name)
		cluster.Spec.IdentityRef.Name = identity
		stage.CreateCluster(cluster)
	}
	stage.WaitClusterProvisioned("c1")
	stage.WaitClusterProvisioned("c2")
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c3", "refused", func(c *infrav1.AzureCluster) bool { return strings.Contains(harness.Status(c), "7000215") })

	machine := stage.AzureMachine("c1", "c1-md")
	machine.Spec.VMExtensions = []infrav1.VMExtension{{
		Name: "script", Publisher: "Microsoft.Azure.Extensions", Version: "2.1",
		ProtectedSettings: infrav1.Tags{"commandToExecute": found.add("protected settings", "echo protected-"+stage.Namespace)},
	}}
	stage.CreateMachine(machine, harness.Worker, "")
	stage.WaitMachineProvisioned("c1-md")
	for name, keys := range map[string][]string{"c1-md": {"value"}, "c1-md-azure-json": {"worker-node-azure.json", "control-plane-azure.json"}} {
		data := &corev1.Secret{}
		stage.Get(data, name)
		for _, key := range keys {
			found.add(name+" "+key, string(data.Data[key]))
		}
	}

	stage.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "windows"}, Data: map[string][]byte{"password": []byte(found.add("Windows password", stage.Secret("Windows-Passw0rd")))}})
	controlPlane := stage.ControlPlane("a1")
	controlPlane.Spec.ASOManagedClusterPatches = []string{`{"spec":{"windowsProfile":{"adminUsername":"capi","adminPassword":{"name":"windows","key":"password"}}}}`}
	stage.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
	stage.WaitManagedClusterReady("a1")
	for name := range map[string]bool{"a1-kubeconfig": true, "a1-user-kubeconfig": true} {
		kubeconfig := &corev1.Secret{}
		stage.Get(kubeconfig, name)
		for i, value := range regexp.MustCompile(`(?:client-key-data|token): ?"?([A-Za-z0-9+/=._-]{24,})`).FindAllSubmatch(kubeconfig.Data["value"], -1) {
			found.add(fmt.Sprintf("%s %d", name, i), string(value[1]))
		}
	}
}

// withCertificate makes an identity that signs in with a certificate.
func withCertificate(stage *harness.Stage, found canaries) {
	stage.T.Helper()
	certificate, key := selfSigned(stage.T)
	lines := strings.Split(string(key), "\n")
	found.add("private key", lines[2])
	stage.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "certificate"}, Data: map[string][]byte{"certificate": append(certificate, key...)}})
	identity := stage.Identity()
	identity.Name, identity.Spec.Type, identity.Spec.ClientSecret.Name = "certificate", infrav1.ServicePrincipalCertificate, "certificate"
	stage.Create(identity)
}

// shown is what Kubernetes and Azure show of the stage: all of our objects but what users wrote, events, the request log.
func shown(t *testing.T, stage *harness.Stage) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedClusterList{},
		&infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureClusterIdentityList{}, &corev1.EventList{}, &eventsv1.EventList{},
	} {
		if err := stage.Client.List(t.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct{ Items []map[string]any }
		if err := json.Unmarshal(raw, &parsed); err != nil {
			t.Fatal(err)
		}
		for _, item := range parsed.Items {
			delete(item, "spec")
			if metadata, ok := item["metadata"].(map[string]any); ok {
				delete(metadata, "managedFields")
			}
		}
		if raw, err = json.Marshal(parsed.Items); err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprintf("%T", list)] = string(raw)
	}
	raw, err := json.Marshal(stage.Azure.Requests())
	if err != nil {
		t.Fatal(err)
	}
	out["the request log"] = string(raw)
	return out
}

// get is what the manager serves.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, response.StatusCode, err)
	}
	return string(raw)
}
