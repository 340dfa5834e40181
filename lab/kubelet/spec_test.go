package kubelet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

const deployment = `
metadata: {name: capz-controller-manager, namespace: capz-system, uid: u1}
spec:
  template:
    spec:
      serviceAccountName: capz-manager
      containers:
      - name: manager
        args: [--leader-elect, "--diagnostics-address=:8443", --v=2, "--name=$(POD_NAME)"]
        env:
        - {name: PLAIN, value: text}
        - {name: AZURE_SUBSCRIPTION_ID, valueFrom: {secretKeyRef: {name: credentials, key: subscription-id}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
        - {name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
        resources: {limits: {memory: 1Mi}}
      volumes:
      - {name: cert, secret: {secretName: capz-webhook-service-cert}}
      - {name: tmp, emptyDir: {}}
      - name: azure-identity-token
        projected: {sources: [{serviceAccountToken: {path: azure-identity-token, audience: "api://AzureADTokenExchange", expirationSeconds: 7200}}]}
`

func placeAt(t *testing.T, m settings.Manager, manifest string) place {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict([]byte(manifest), d); err != nil {
		t.Fatal(err)
	}
	return place{Settings: &settings.Settings{Dir: "/lab", Root: "/source", BasePort: 22000}, manager: m, deployment: d}
}

func credentialValue(name, key string) (string, error) {
	if name+"/"+key != "credentials/subscription-id" {
		return "", fmt.Errorf("no key %s in Secret %s", key, name)
	}
	return "sub", nil
}

func TestSpec(t *testing.T) {
	own := []string{"--leader-elect", "--diagnostics-address=:8443", "--v=2", "--name=capz-controller-manager-0"}
	environment := []string{"PLAIN=text", "AZURE_SUBSCRIPTION_ID=sub", "POD_NAME=capz-controller-manager-0", "POD_UID=u1",
		"GOMEMLIMIT=1048576"}
	for name, tc := range map[string]struct {
		reason    string
		manager   settings.Manager
		path      string
		args, env []string
	}{
		"ours": {
			reason: "a flag sets the namespace of its lease", manager: settings.Azure, path: "/source/bin/manager",
			args: []string{
				"--kubeconfig=/lab/pods/capz-manager/kubeconfig", "--leader-election-namespace=capz-system",
				"--webhook-port=22019", "--health-addr=127.0.0.1:22020", "--diagnostics-address=127.0.0.1:22021", "--webhook-cert-dir=/lab/pki/webhook",
			},
			env: []string{
				"AZURE_FEDERATED_TOKEN_FILE=/lab/pods/capz-manager/azure-identity-token/azure-identity-token",
				"HTTPS_PROXY=http://127.0.0.1:22005", "NO_PROXY=127.0.0.1,localhost", "SSL_CERT_FILE=/lab/pki/ca-bundle.crt", "HOME=/lab",
				"TMPDIR=/lab",
			},
		},
		"Cluster API's": {
			reason: "it finds out in a pod only", manager: settings.Managers[0], path: "/source/bin/capi-core",
			args: []string{
				"--kubeconfig=/lab/pods/capi-core/kubeconfig", "--leader-elect=false",
				"--webhook-port=22010", "--health-addr=127.0.0.1:22011", "--diagnostics-address=127.0.0.1:22012", "--webhook-cert-dir=/lab/pki/webhook",
			},
			env: []string{
				"AZURE_FEDERATED_TOKEN_FILE=/lab/pods/capi-core/azure-identity-token/azure-identity-token",
				"HTTPS_PROXY=http://127.0.0.1:22005", "NO_PROXY=127.0.0.1,localhost", "SSL_CERT_FILE=/lab/pki/ca-bundle.crt", "HOME=/lab",
				"TMPDIR=/lab",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := placeAt(t, tc.manager, deployment).processSpec(credentialValue)
			if err != nil {
				t.Fatal(err)
			}
			if got.Path != tc.path {
				t.Errorf("%s: runs %s, want %s", tc.reason, got.Path, tc.path)
			}
			if diff := cmp.Diff(append(own[:len(own):len(own)], tc.args...), got.Args); diff != "" {
				t.Errorf("%s: arguments (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(append(environment[:len(environment):len(environment)], tc.env...), got.Env); diff != "" {
				t.Errorf("%s: environment (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSpecRefuses reads settings that a process cannot have; it expects a refusal, because they must not be left out silently.
func TestSpecRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ reason, from, to, want string }{
		"init container": {
			"it would never run", "      containers:", "      initContainers: [{name: first}]\n      containers:",
			"the Deployment capz-controller-manager: has 1 containers and 1 init containers; the lab runs pods of one container",
		},
		"volume": {
			"the process would not find its files", "emptyDir: {}", "configMap: {name: settings}",
			"the Deployment capz-controller-manager: volume tmp: the lab has the webhook's certificate, projected tokens and empty folders only",
		},
		"Secret": {
			"a pod would not start", "name: credentials", "name: others",
			"the Deployment capz-controller-manager: variable AZURE_SUBSCRIPTION_ID: no key subscription-id in Secret others",
		},
		"field": {
			"it would be empty", "fieldPath: metadata.name", "fieldPath: status.hostIP",
			"the Deployment capz-controller-manager: variable POD_NAME: the lab does not know the field status.hostIP",
		},
		"limit": {
			"a kubelet gives the node's then", "limits: {memory: 1Mi}", "limits: {cpu: 1}",
			"the Deployment capz-controller-manager: variable GOMEMLIMIT: the container has no limits.memory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := placeAt(t, settings.Azure, strings.Replace(deployment, tc.from, tc.to, 1)).processSpec(credentialValue)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s: error %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

// TestDifferencesAreInTheBook compares the book's table with the one that the code follows.
func TestDifferencesAreInTheBook(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "docs", "book", "lab.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(raw), "| | In a pod | In the lab |\n|---|---|---|\n")
	if !ok {
		t.Fatal("the book has no table of differences from pods")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	want := ""
	for _, d := range Differences {
		want += fmt.Sprintf("| %s | %s | %s |\n", d.Of, d.Pod, d.Process)
	}
	if diff := cmp.Diff(want, table+"\n"); diff != "" {
		t.Errorf("docs/book/lab.md (-code +book):\n%s", diff)
	}
}
