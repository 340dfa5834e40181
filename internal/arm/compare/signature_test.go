package compare

import (
	"strings"
	"testing"
)

// TestDifferencesHideSignatures checks that a difference in the URL of a file does not show its signature.
func TestDifferencesHideSignatures(t *testing.T) {
	for _, value := range []any{"https://a/c?sp=r&sig=CANARY", map[string]any{"uri": "https://a/c?sp=r&sig=CANARY"}} {
		if got := FormatValue("properties.creationData.sourceUri", value); strings.Contains(got, "CANARY") || !strings.Contains(got, "left out") {
			t.Errorf("the value is shown as %s", got)
		}
	}
}
