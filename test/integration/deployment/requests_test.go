package deployment_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// mostMemory is the maximum of the manager's memory in MiB; its limit is 512 MiB.
const mostMemory = 200

// TestRequestsTakeLittleMemory sends requests to the webhooks of a manager as the API server and as any pod can: as large as an object
// may be, and made of the values that take the most memory when decoded. The manager answers each, and its resident memory stays below
// mostMemory.
func TestRequestsTakeLittleMemory(t *testing.T) {
	stage := harness.NewStage(t, environment)
	p := startPod(stage, t, harness.BuildManager(t))
	for name, test := range map[string]struct {
		reason string
		hook   string
		// spec is that of the object, user is JSON beside it in the request.
		spec, user string
		// refused is part of the message; "" is that the object is let through to the webhooks.
		refused string
		status  int
	}{
		"empty subnets": {"an empty element takes three bytes, and a kilobyte when it is decoded",
			"mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster",
			`{"networkSpec":{"subnets":[` + joinJSON(`{}`, 960_000) + `]}}`, `{}`, "more than 20000 objects", http.StatusOK},
		"subnets below the bound": {"the API server asks before it applies maxItems",
			"mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster",
			`{"networkSpec":{"subnets":[` + joinJSON(`{}`, 19_000) + `]}}`, `{}`, "", http.StatusOK},
		"security rules below the bound": {"defaults fill in each of them", "mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster",
			`{"networkSpec":{"subnets":[` + joinJSON(`{"name":"n","role":"node","securityGroup":{"securityRules":[`+joinJSON(`{}`, 900)+`]}}`,
				20) + `]}}`,
			`{}`, "", http.StatusOK},
		"numbers": {"values count too", "mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster",
			`{"networkSpec":{"apiServerLB":{"availabilityZones":[` + joinJSON(`1`, 1_400_000) + `]}}}`, `{}`, "more than 200000 values",
			http.StatusOK},
		"nested": {"a decoder calls itself for each level",
			"validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedcontrolplane",
			`{"resources":[` + strings.Repeat(`{"a":`, 5_000) + `1` + strings.Repeat(`}`, 5_000) + `]}`, `{}`, "levels deep", http.StatusOK},
		"resource manifests": {"they are kept as JSON", "validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedcontrolplane",
			`{"resources":[` + joinJSON(`{"a":{"b":"c"}}`, 9_000) + `]}`, `{}`, "", http.StatusOK},
		"one text": {"a text takes what it has", "mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster",
			`{"location":"` + strings.Repeat("x", 2_900_000) + `"}`, `{}`, "", http.StatusOK},
		"groups of the user": {"only the API server knows the user, but any pod can write the header",
			"mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster", `{}`, `{"groups":[` + joinJSON(`"g"`, 700_000) + `]}`, "", http.StatusOK},
		"too many bytes": {"no object and its predecessor are that large", "mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster",
			`{"location":"` + strings.Repeat("x", 6<<20) + `"}`, `{}`, "", http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"infrastructure.cluster.x-k8s.io","version":"v1beta1","kind":%q},"operation":"CREATE","dryRun":true,"userInfo":%s,`+
				`"object":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":%q,"metadata":{"name":"c1","namespace":"default"},"spec":%s}}}`, kindOf[test.hook], test.user, kindOf[test.hook], test.spec)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					status, answer, err := sendReview(t, p, "/"+test.hook, body)
					if err != nil {
						t.Error(err)
						return
					}
					if status != test.status {
						t.Errorf("%s: status %d, want %d: %.300s", test.reason, status, test.status, answer)
						return
					}
					var got admissionv1.AdmissionReview
					if status != http.StatusOK {
						return
					}
					if err := json.Unmarshal(answer, &got); err != nil || got.Response == nil || got.Response.UID != "u" {
						t.Errorf("%s: no answer to the request: %v %.300s", test.reason, err, answer)
						return
					}
					if test.refused == "" && got.Response.Result != nil && strings.Contains(got.Response.Result.Message, "more than") {
						t.Errorf("%s: got %.300s, want the webhook's answer", test.reason, answer)
					}
					if test.refused != "" && (got.Response.Allowed || !strings.Contains(got.Response.Result.Message, test.refused)) {
						t.Errorf("%s: got %.300s, want a refusal with %q", test.reason, answer, test.refused)
					}
				})
			}
			wg.Wait()
			now, most := p.ResidentMemory()
			t.Logf("resident memory: %.0f MiB now, %.0f MiB at most", now, most)
			if most > mostMemory {
				t.Errorf("%s: the manager took %.0f MiB, want at most %d", test.reason, most, mostMemory)
			}
		})
	}
}

// kindOf are the kinds of webhooks.
var kindOf = map[string]string{
	"mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster":                  "AzureCluster",
	"validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedcontrolplane": "AzureASOManagedControlPlane",
}

// joinJSON returns a JSON list without brackets.
func joinJSON(element string, times int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", times), ",")
}

// sendReview sends a request to a webhook, with client certificates if there are any.
func sendReview(t *testing.T, p *harness.Program, path, body string, certificates ...tls.Certificate) (status int, answer []byte,
	err error) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+p.Webhooks+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	// Which server answers makes no difference here.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates}}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// TestWebhookClients starts a manager that knows the CA of its webhook clients: it answers only those with a certificate of that CA.
func TestWebhookClients(t *testing.T) {
	stage := harness.NewStage(t, environment)
	certificate := clientCertificate(t)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	p := startWithFiles(stage, t, harness.BuildManager(t), map[string][]byte{"clients.crt": ca}, "--webhook-client-ca=clients.crt")
	const hook = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster"
	const body = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"DELETE"}}`
	if status, answer, err := sendReview(t, p, hook, body); err == nil {
		t.Errorf("a client without a certificate got an answer: %d %s", status, answer)
	}
	if status, answer, err := sendReview(t, p, hook, body, certificate); err != nil || status != http.StatusOK {
		t.Errorf("a client with a certificate of the CA got no answer: %d %s %v", status, answer, err)
	}
}

// clientCertificate returns a certificate for clients that is its own CA.
func clientCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}
