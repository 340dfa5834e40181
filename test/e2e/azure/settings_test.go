package azure

import (
	"strings"
	"testing"
)

func TestReadSettings(t *testing.T) {
	const id = "20000000-0000-4000-8000-000000000001"
	complete := map[string]string{"AZURE_SUBSCRIPTION_ID": id, "AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"}
	for name, tc := range map[string]struct {
		reason, subscription string
		environment          map[string]string
		fails                string
	}{
		"complete":        {reason: "all settings exist", subscription: id, environment: complete},
		"no subscription": {reason: "a variable for other programs must not be enough", environment: complete, fails: "no subscription. Specs on Azure cost money"},
		"a name":          {reason: "names are not unique", subscription: "dev", environment: complete, fails: `--subscription "dev" is no ID`},
		"no credential":   {reason: "the provider could not sign in", subscription: id, environment: map[string]string{"AZURE_TENANT_ID": "t"}, fails: "AZURE_CLIENT_ID, AZURE_CLIENT_SECRET is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadSettings(tc.subscription, func(name string) string { return tc.environment[name] })
			if got := errorText(err); (tc.fails == "") != (got == "") || !strings.HasPrefix(got, tc.fails) {
				t.Errorf("%s: error %q, want %q", tc.reason, got, tc.fails)
			}
		})
	}
}
