package webhook

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

var update = flag.Bool("update", false, "write config/webhook/manifests.yaml instead of comparing with it")

const manifestsFile = "../../config/webhook/manifests.yaml"

// TestManifests compares the webhook configurations with the webhooks that the manager serves.
func TestManifests(t *testing.T) {
	mutating, validating := buildManifests(servedKinds(nil, plan.Features{}, false))
	got := "---\n" + mustYAML(t, mutating) + "---\n" + mustYAML(t, validating)
	if *update {
		if err := os.WriteFile(manifestsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(manifestsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run make generate: -want +got\n%s", diff)
	}
}

func mustYAML(t *testing.T, obj any) string {
	t.Helper()
	raw, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func buildManifests(kinds []served) (*admissionv1.MutatingWebhookConfiguration, *admissionv1.ValidatingWebhookConfiguration) {
	slices.SortFunc(kinds, func(a, b served) int { return strings.Compare(a.name(), b.name()) })
	mutating := &admissionv1.MutatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "mutating-webhook-configuration"},
	}
	validating := &admissionv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "validating-webhook-configuration"},
	}
	for _, k := range kinds {
		mutates, validates := k.operations()
		if len(mutates) > 0 {
			mutating.Webhooks = append(mutating.Webhooks, admissionv1.MutatingWebhook{
				Name: "default." + webhookName(k), ClientConfig: clientConfig("/mutate-", k), Rules: newRules(k, mutates),
				FailurePolicy: new(admissionv1.Fail), MatchPolicy: new(admissionv1.Equivalent), SideEffects: new(admissionv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1", "v1beta1"},
			})
		}
		validating.Webhooks = append(validating.Webhooks, admissionv1.ValidatingWebhook{
			Name: "validation." + webhookName(k), ClientConfig: clientConfig("/validate-", k), Rules: newRules(k, validates),
			FailurePolicy: new(admissionv1.Fail), MatchPolicy: new(admissionv1.Equivalent), SideEffects: new(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1", "v1beta1"},
		})
	}
	return mutating, validating
}

func webhookName(k served) string {
	return strings.ToLower(k.name()) + "." + infrav1.GroupVersion.Group
}

// clientConfig is where controller-runtime serves a kind; config/default replaces name and namespace.
func clientConfig(prefix string, k served) admissionv1.WebhookClientConfig {
	group := strings.ReplaceAll(infrav1.GroupVersion.Group, ".", "-")
	path := prefix + group + "-" + infrav1.GroupVersion.Version + "-" + strings.ToLower(k.name())
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "webhook-service", Namespace: "system", Path: &path}}
}

func newRules(k served, operations []admissionv1.OperationType) []admissionv1.RuleWithOperations {
	resources, _ := meta.UnsafeGuessKindToResource(infrav1.GroupVersion.WithKind(k.name()))
	return []admissionv1.RuleWithOperations{{Operations: operations, Rule: admissionv1.Rule{
		APIGroups: []string{infrav1.GroupVersion.Group}, APIVersions: []string{infrav1.GroupVersion.Version},
		Resources: []string{resources.Resource},
	}}}
}
