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
		"/api/v1": resources("v1", resource("secrets", "Secret")),
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

// TestWorkloadIdentity signs in with the token in the file that AZURE_FEDERATED_TOKEN_FILE names. Entra ID refuses it until the application has the
// federated credential of the line.
func TestWorkloadIdentity(t *testing.T) {
	const issuer, subject = "https://issuer.example", "system:serviceaccount:capz-system:capz-manager"
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
	s.tokenFile = filepath.Join(t.TempDir(), "token")
	token := signToken(t, key, map[string]any{"iss": issuer, "sub": subject, "aud": "api://AzureADTokenExchange", "exp": time.Now().Add(time.Hour).Unix()})
	if err := os.WriteFile(s.tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.failures(); len(got) != 1 || got[0].Status != doctor.Failed || !strings.Contains(got[0].Message, "AADSTS7002") {
		t.Errorf("the application does not trust the token: %+v", got)
	}
	encode := base64.RawURLEncoding.EncodeToString
	s.control("/_sim/applications", map[string]any{"clientID": member, "federatedCredentials": []any{map[string]any{"issuer": issuer, "subject": subject}}})
	s.control("/_sim/issuers", map[string]any{"issuer": issuer, "keys": []any{map[string]any{"kty": "RSA", "kid": "1", "n": encode(key.N.Bytes()),
		"e": encode(big.NewInt(int64(key.E)).Bytes())}}})
	if got := s.failures(); len(got) > 0 {
		t.Errorf("lines that did not pass: %+v", got)
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
