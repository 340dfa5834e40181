package patch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

func TestSetAnnotations(t *testing.T) {
	for name, test := range map[string]struct {
		reason             string
		have, values, want map[string]string
		changed            bool
	}{
		"first":       {"an object may have none yet", nil, map[string]string{"a": "1"}, map[string]string{"a": "1"}, true},
		"other value": {"the value counts", map[string]string{"a": "1"}, map[string]string{"a": "2"}, map[string]string{"a": "2"}, true},
		"same": {"an equal value is no change", map[string]string{"a": "1"}, map[string]string{"a": "1"}, map[string]string{"a": "1"},
			false},
		"others": {"those of others stay", map[string]string{"b": "1"}, map[string]string{"a": "1"}, map[string]string{"a": "1", "b": "1"},
			true},
		"empty": {"an empty value takes it away", map[string]string{"a": "1", "b": "1"}, map[string]string{"a": ""},
			map[string]string{"b": "1"}, true},
		"empty of none": {"an absent annotation cannot be removed", nil, map[string]string{"a": ""}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Annotations: test.have}
			if changed := patch.SetAnnotations(obj, test.values); changed != test.changed {
				t.Errorf("%s: changed %t, want %t", test.reason, changed, test.changed)
			}
			if diff := cmp.Diff(test.want, obj.Annotations); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
