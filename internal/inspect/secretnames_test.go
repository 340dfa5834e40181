package inspect

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
)

// TestSecretNames shows a value under names of secrets in all outputs: messages about differences, which plans use as well, log values, JSON
// in log texts, and bundles. None of them has the value.
func TestSecretNames(t *testing.T) {
	for _, name := range []string{"password", "adminPassword", "clientSecret", "client_secret", "token", "workspaceToken", "access_token", "sasToken",
		"connectionString", "credential", "credentials", "authorization", "kubeconfig", "kubeconfigs", "certificate", "certificateData", "caCert",
		"privateKey", "sharedKey", "storageAccountKey", "customData", "userData", "protectedSettings", "commandToExecute", "client_assertion",
		"aadClientSecret", "aadClientCertPassword", "configurationProtectedSettings"} {
		const canary = "canary"
		object := map[string]any{"spec": map[string]any{name: canary}}
		hideSecrets(object)
		for output, shown := range map[string]string{
			"difference":      compare.FormatValue("properties.settings."+name, canary),
			"nested":          compare.FormatValue("properties.settings", map[string]any{"a": map[string]any{name: canary}}),
			"log value":       fmt.Sprint(redact.RedactPairs([]any{name, canary})),
			"JSON in a log":   redact.RedactText(fmt.Sprintf(`answer {"a": 1, %q: %q}`, name, canary)),
			"quoted in a log": redact.RedactText(fmt.Sprintf("%q", fmt.Sprintf(`{%q: %q}`, name, canary))),
			"bundle":          fmt.Sprint(object),
		} {
			if strings.Contains(shown, canary) {
				t.Errorf("%s of %s: %s", output, name, shown)
			}
		}
	}
	for _, name := range []string{"secretName", "secretRef", "location", "vmSize"} {
		object := map[string]any{"spec": map[string]any{name: "shown"}}
		hideSecrets(object)
		if shown := fmt.Sprint(object, redact.RedactPairs([]any{name, "shown"})); strings.Count(shown, "shown") != 2 {
			t.Errorf("%s is hidden: %s", name, shown)
		}
	}
}
