package command_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/doctor"
)

// splitManifest takes the first documents off a manifest: the identity and its Secret.
func (s *stage) splitManifest(n int) (identity []string) {
	documents := strings.SplitN(s.manifest, "\n---\n", n+1)
	s.manifest = documents[n]
	return documents[:n]
}

// TestIdentityOfTheManagementCluster takes the identity and its Secret from the management cluster, because the manifests name them only.
func TestIdentityOfTheManagementCluster(t *testing.T) {
	s := newStage(t, aksManifest, nil)
	s.grant("aks", "", readerActions)
	s.splitManifest(2)
	objects := map[string]any{
		"/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/azureclusteridentities/cluster-identity": object("infrastructure.cluster.x-k8s.io/v1beta1",
			"AzureClusterIdentity", "cluster-identity", "spec", map[string]any{"type": "ServicePrincipal", "tenantID": s.Tenant, "clientID": member,
				"clientSecret": map[string]any{"name": "cluster-identity-secret", "namespace": "default"}, "allowedNamespaces": map[string]any{}}),
		"/api/v1/namespaces/default/secrets/cluster-identity-secret": object("v1", "Secret", "cluster-identity-secret", "data",
			map[string]any{"clientSecret": base64.StdEncoding.EncodeToString([]byte("other-secret"))}),
	}
	s.connect(objects)
	if got := s.failures(); len(got) > 0 {
		t.Errorf("lines that did not pass: %+v", got)
	}
	secret := objects["/api/v1/namespaces/default/secrets/cluster-identity-secret"].(map[string]any)
	secret["data"] = map[string]any{"clientSecret": base64.StdEncoding.EncodeToString([]byte("former-secret"))}
	if got := s.failures(); len(got) != 1 || !strings.Contains(got[0].Message, "AADSTS7000215") {
		t.Errorf("the Secret of the management cluster is not valid any more: %+v", got)
	}
	delete(objects, "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/azureclusteridentities/cluster-identity")
	if got := s.failures(); len(got) != 1 || !strings.Contains(got[0].Message, "there is no AzureClusterIdentity default/cluster-identity") ||
		got[0].Fix != "kubectl get azureclusteridentities --all-namespaces" {
		t.Errorf("neither the manifests nor the management cluster have the identity: %+v", got)
	}
}

func object(apiVersion, kind, name, field string, value any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"},
		field: value}
}

// connect serves objects as the API server of a management cluster does.
func (s *stage) connect(objects map[string]any) {
	s.t.Helper()
	resources := func(group string, list ...any) map[string]any {
		return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": list}
	}
	resource := func(name, kind string) map[string]any {
		return map[string]any{"name": name, "kind": kind, "namespaced": true, "verbs": []string{"get"}}
	}
	discovery := map[string]any{
		"/api": map[string]any{"kind": "APIVersions", "versions": []string{"v1"}},
		"/apis": map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{map[string]any{"name": "infrastructure.cluster.x-k8s.io",
			"versions": []any{map[string]any{"groupVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "version": "v1beta1"}}}}},
		"/api/v1": resources("v1", resource("secrets", "Secret"), resource("configmaps", "ConfigMap"), resource("serviceaccounts", "ServiceAccount"),
			resource("serviceaccounts/token", "TokenRequest")),
		"/apis/infrastructure.cluster.x-k8s.io/v1beta1": resources("infrastructure.cluster.x-k8s.io/v1beta1", resource("azureclusteridentities", "AzureClusterIdentity")),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, has := discovery[r.URL.Path]
		if !has {
			answer, has = objects[r.URL.Path]
		}
		w.Header().Set("Content-Type", "application/json")
		if !has {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": r.URL.Path + " not found"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	s.t.Cleanup(server.Close)
	s.kubeconfig = filepath.Join(s.t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": %q}}],
		"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]}`, server.URL)
	if err := os.WriteFile(s.kubeconfig, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// workloadStage is a stage with the manifests of a workload identity in the namespace default, and an issuer of tokens.
type workloadStage struct {
	*stage
	key *rsa.PrivateKey
}

const issuer = "https://issuer.example"

// Commands of lines that lack a token. The page has them, too.
const (
	createNamespaceToken = "kubectl create token capz-workload-identity --namespace default --audience api://AzureADTokenExchange > token"
	createManagerToken   = "kubectl create token capz-manager --namespace capz-system --audience api://AzureADTokenExchange > token"
)

func newWorkloadStage(t *testing.T) *workloadStage {
	t.Helper()
	s := newStage(t, aksManifest, nil)
	s.grant("aks", "", readerActions)
	s.splitManifest(2)
	s.manifest = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata:
  name: cluster-identity
  namespace: default
spec:
  type: WorkloadIdentity
  tenantID: ` + s.Tenant + `
  clientID: ` + member + `
  allowedNamespaces: {}
---
` + s.manifest
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return &workloadStage{s, key}
}

func (s *workloadStage) issueToken(subject string) string {
	return signToken(s.t, s.key, map[string]any{"iss": issuer, "sub": subject, "aud": "api://AzureADTokenExchange", "exp": time.Now().Add(time.Hour).Unix()})
}

// writeToken writes a token into the file of AZURE_FEDERATED_TOKEN_FILE.
func (s *workloadStage) writeToken(subject string) {
	s.t.Helper()
	s.tokenFile = filepath.Join(s.t.TempDir(), "token")
	if err := os.WriteFile(s.tokenFile, []byte(s.issueToken(subject)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// trust creates the federated credential of a line that did not pass.
func (s *workloadStage) trust(line doctor.Check) {
	s.t.Helper()
	match := regexp.MustCompile(`^az ad app federated-credential create --id (\S+) .*"subject":"([^"]+)"`).FindStringSubmatch(line.Fix)
	if match == nil {
		s.t.Fatalf("the line has no federated credential: %+v", line)
	}
	encode := base64.RawURLEncoding.EncodeToString
	s.control("/_sim/applications", map[string]any{"clientID": match[1], "federatedCredentials": []any{map[string]any{"issuer": issuer, "subject": match[2]}}})
	s.control("/_sim/issuers", map[string]any{"issuer": issuer, "keys": []any{map[string]any{"kty": "RSA", "kid": "1", "n": encode(s.key.N.Bytes()),
		"e": encode(big.NewInt(int64(s.key.E)).Bytes())}}})
}

// TestWorkloadIdentity signs in with the ServiceAccount that the manager would use. Each line that does not pass has the next step.
func TestWorkloadIdentity(t *testing.T) {
	const ofNamespace, ofManager = "system:serviceaccount:default:capz-workload-identity", "system:serviceaccount:capz-system:capz-manager"
	for name, test := range map[string]struct {
		reason         string
		flags          []string
		account, other string
		create         string
	}{
		"isolated": {reason: "the manager requests a token of the namespace's ServiceAccount", account: ofNamespace, other: ofManager,
			create: createNamespaceToken},
		"trusted": {reason: "the manager uses its own token", flags: []string{"--tenancy=trusted"}, account: ofManager,
			create: createManagerToken},
		"listed namespace": {reason: "the operator lends the manager's token to the namespace", flags: []string{"--manager-identity-namespaces=a,default"},
			account: ofManager, create: createManagerToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWorkloadStage(t)
			s.flags = test.flags
			if got := s.failures(); len(got) != 1 || !strings.HasPrefix(got[0].Fix, test.create) {
				t.Fatalf("%s: without a token: %+v", test.reason, got)
			}
			if test.other != "" {
				s.writeToken(test.other)
				if got := s.failures(); len(got) != 1 || !strings.Contains(got[0].Message, "the manager signs in as "+test.account) ||
					!strings.HasPrefix(got[0].Fix, test.create) {
					t.Errorf("%s: with a token of %s: %+v", test.reason, test.other, got)
				}
			}
			s.writeToken(test.account)
			got := s.failures()
			if len(got) != 1 || got[0].Status != doctor.Failed || !strings.Contains(got[0].Message, "AADSTS7002") {
				t.Fatalf("%s: the application does not trust the token: %+v", test.reason, got)
			}
			s.trust(got[0])
			if got := s.failures(); len(got) > 0 {
				t.Errorf("%s: lines that did not pass: %+v", test.reason, got)
			}
		})
	}
}

// TestTokenOfTheManagementCluster requests the token of the identity's ServiceAccount like the manager.
func TestTokenOfTheManagementCluster(t *testing.T) {
	const account = "/api/v1/namespaces/default/serviceaccounts/capz-workload-identity/token"
	s := newWorkloadStage(t)
	objects := map[string]any{}
	s.connect(objects)
	if got := s.failures(); len(got) != 1 || got[0].Fix != "kubectl create serviceaccount capz-workload-identity --namespace default" {
		t.Fatalf("there is no ServiceAccount: %+v", got)
	}
	objects[account] = map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "status": map[string]any{
		"token": s.issueToken("system:serviceaccount:default:capz-workload-identity"), "expirationTimestamp": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}}
	got := s.failures()
	if len(got) != 1 || !strings.Contains(got[0].Message, "AADSTS7002") {
		t.Fatalf("the application does not trust the token: %+v", got)
	}
	s.trust(got[0])
	if got := s.failures(); len(got) > 0 {
		t.Errorf("lines that did not pass: %+v", got)
	}
}

// TestTenancy refuses the credentials that the manager refuses.
func TestTenancy(t *testing.T) {
	for name, test := range map[string]struct {
		reason, old, with, fix string
		allow                  func(*stage)
	}{
		"Secret": {"its namespace does not allow others to use it", "name: cluster-identity-secret\n  namespace: default\nstringData",
			"name: cluster-identity-secret\n  namespace: other\nstringData",
			"kubectl annotate secret cluster-identity-secret --namespace other infrastructure.cluster.x-k8s.io/identity-namespaces=default",
			func(s *stage) {
				s.replace("namespace: other\nstringData",
					"namespace: other\n  annotations:\n    infrastructure.cluster.x-k8s.io/identity-namespaces: default\nstringData")
			}},
		"managed identity": {"it belongs to the manager's machine", "type: ServicePrincipal", "type: UserAssignedMSI",
			"kubectl edit deployment capz-controller-manager --namespace capz-system", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, aksManifest, nil)
			s.grant("aks", "", readerActions)
			s.replace("    name: cluster-identity-secret\n    namespace: default", "    name: cluster-identity-secret\n    namespace: other")
			s.replace(test.old, test.with)
			got := s.failures()
			if len(got) != 1 || !strings.Contains(got[0].Message, "the manager runs with --tenancy=isolated") || got[0].Fix != test.fix {
				t.Fatalf("%s: %+v", test.reason, got)
			}
			if test.allow != nil {
				test.allow(s)
				if got := s.failures(); len(got) > 0 {
					t.Errorf("%s: lines that did not pass: %+v", test.reason, got)
				}
			}
		})
	}
}

// control sends a request to the control API of the simulator.
func (s *stage) control(path string, body any) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	s.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodPut, path, bytes.NewReader(raw)))
	if recorder.Code != http.StatusNoContent {
		s.t.Fatalf("PUT %s: %d %s", path, recorder.Code, recorder.Body)
	}
}

func signToken(t *testing.T, key *rsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	part := func(value any) string {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// TestResourceManifests checks a cluster of the kinds with resource manifests, whose credential is a Secret: its version, its size and its zone are
// those of the manifests.
func TestResourceManifests(t *testing.T) {
	for name, test := range map[string]struct {
		reason, old, with string
		want              string
		check             string
	}{
		"in order": {reason: "all checks pass"},
		"version":  {"AKS has retired it", "version: v1.33.2", "version: v1.27.9", "needs a version that AKS does not offer. It offers 1.35.0", doctor.CheckVersions},
		"size":     {"no region has it", "vmSize: Standard_D2s_v3", "vmSize: Standard_D2x_v3", "needs a size that the region does not have. Similar ones are Standard_D2", doctor.CheckSizes},
		"zone":     {"the region has no such zone", "vmSize: Standard_D2s_v3", "vmSize: Standard_D2s_v3\n      availabilityZones: [\"4\"]", "needs zone 4", doctor.CheckSizes},
		"secret":   {"it is not valid any more", "AZURE_CLIENT_SECRET: other-secret", "AZURE_CLIENT_SECRET: former-secret", "AADSTS7000215", doctor.CheckCredentials},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "testdata/manifests.yaml", nil)
			s.grant("aks", "", readerActions)
			if test.old != "" {
				s.replace(test.old, test.with)
			}
			got := s.failures()
			if test.want == "" && len(got) > 0 {
				t.Errorf("%s: lines that did not pass: %+v", test.reason, got)
			}
			if test.want != "" && (len(got) != 1 || got[0].Check != test.check || !strings.Contains(got[0].Message, test.want)) {
				t.Errorf("%s: got %+v, want one line of %s with %q", test.reason, got, test.check, test.want)
			}
		})
	}
}
