package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: capz-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: capz-controller-manager, namespace: capz-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusters.cluster.x-k8s.io
  annotations: {cert-manager.io/inject-ca-from: ns/cert, keep: me}
spec:
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: s, namespace: ns, path: /convert}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: azureclusters.infrastructure.cluster.x-k8s.io}
spec: {group: infrastructure.cluster.x-k8s.io}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: capz-validating-webhook-configuration
  annotations: {cert-manager.io/inject-ca-from: ns/cert}
webhooks:
- name: first
  clientConfig: {service: {name: s, namespace: ns, path: /validate-one}}
- name: second
  clientConfig: {service: {name: s, namespace: ns, path: /validate-two, port: 443}}
`

const local = `---
apiVersion: v1
kind: Namespace
metadata:
  name: capz-system
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: capz-controller-manager
  namespace: capz-system
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    cert-manager.io/inject-ca-from: ns/cert
    keep: me
  name: clusters.cluster.x-k8s.io
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig:
        caBundle: Q0E=
        url: https://127.0.0.1:9443/convert
      conversionReviewVersions:
      - v1
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: azureclusters.infrastructure.cluster.x-k8s.io
spec:
  group: infrastructure.cluster.x-k8s.io
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  annotations:
    cert-manager.io/inject-ca-from: ns/cert
  name: capz-validating-webhook-configuration
webhooks:
- clientConfig:
    caBundle: Q0E=
    url: https://127.0.0.1:9443/validate-one
  name: first
- clientConfig:
    caBundle: Q0E=
    url: https://127.0.0.1:9443/validate-two
  name: second
`

func TestLocalize(t *testing.T) {
	objects, err := DecodeDocuments([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	got, err := LocalizeWebhooks(objects, Webhooks{Port: 9443, CABundle: []byte("CA")})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := EncodeDocuments(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(local, string(raw)); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}

func TestLocalizeRefusesAWebhookWithoutAPath(t *testing.T) {
	objects, err := DecodeDocuments([]byte("kind: ValidatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks: [{name: a, clientConfig: {url: 'https://elsewhere'}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = LocalizeWebhooks(objects, Webhooks{})
	const want = "ValidatingWebhookConfiguration w: webhooks[0].clientConfig.service.path: is missing"
	if err == nil || err.Error() != want {
		t.Errorf("Localize: %v, want %s", err, want)
	}
}
