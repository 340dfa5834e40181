package reconcile

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestCompareSubscription refuses a credential for another subscription than the recorded one. Content that cannot be decoded, or a forged
// value, affects the object itself only.
func TestCompareSubscription(t *testing.T) {
	for name, test := range map[string]struct {
		reason, stored string
		refused        bool
	}{
		"none":    {"nothing was seen in Azure yet", `{"applied":{}}`, false},
		"same":    {"the credential did not change", `{"subscription":"s"}`, false},
		"letters": {"Azure ignores the case of IDs", `{"subscription":"S"}`, false},
		"other":   {"the resources in the recorded one would never be deleted", `{"subscription":"t"}`, true},
		"forged":  {"a value of another type proves nothing", `{"subscription":["t"]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureCluster{}
			object.SetAnnotations(map[string]string{infrav1.AppliedAnnotation: test.stored})
			errs := compareSubscription(object, "s", field.NewPath("spec", "subscriptionID"))
			if (len(errs) > 0) != test.refused {
				t.Errorf("%s: %v", test.reason, errs)
			}
			if test.refused && !strings.Contains(errs.ToAggregate().Error(), "the resources of the cluster are in subscription t") {
				t.Errorf("%s: the error does not name the subscription: %v", test.reason, errs)
			}
		})
	}
}
