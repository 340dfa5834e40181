package architecture

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// TestReasonsOfMetrics makes sure that the label reason of metrics has a value for each reason of the API and of identities. All other
// reasons are counted together, so that texts of other programs do not become labels.
func TestReasonsOfMetrics(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	reasons := identityCodes(files)
	for name, value := range conditionNames(files) {
		if strings.HasSuffix(name, "Reason") {
			reasons = append(reasons, value)
		}
	}
	if len(reasons) < 50 {
		t.Fatalf("only %d reasons were found", len(reasons))
	}
	for _, reason := range reasons {
		if !status.IsKnownReason(reason) {
			t.Errorf("internal/status: classes does not have the reason %s", reason)
		}
	}
}
