package backup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestAddMissing completes a backup by another one.
func TestAddMissing(t *testing.T) {
	object := func(uid types.UID, policy string, owners ...types.UID) OperatorObject {
		out := OperatorObject{UID: uid, Policy: &policy}
		for _, owner := range owners {
			out.OwnerReferences = append(out.OwnerReferences, metav1.OwnerReference{UID: owner})
		}
		return out
	}
	for name, test := range map[string]struct {
		reason         string
		b, other, want Backup
		wantAdded      bool
	}{
		"nothing new": {
			reason: "the policy skip is that of the migration",
			b:      Backup{Operator: []OperatorObject{object("a", "manage")}, Definitions: []Definition{{Name: "x", Served: []string{"v1"}}}},
			other:  Backup{Operator: []OperatorObject{object("a", "skip")}, Definitions: []Definition{{Name: "x"}}},
			want:   Backup{Operator: []OperatorObject{object("a", "manage")}, Definitions: []Definition{{Name: "x", Served: []string{"v1"}}}},
		},
		"new objects": {
			reason: "they were created while the established provider ran on",
			b:      Backup{Operator: []OperatorObject{object("a", "manage")}, Generations: map[types.UID]int64{"owner": 2}},
			other: Backup{Operator: []OperatorObject{object("b", "manage", "owner")}, Definitions: []Definition{{Name: "x"}},
				Generations: map[types.UID]int64{"owner": 3, "new": 1}, Ready: map[string]string{"new": "True"}},
			want: Backup{Operator: []OperatorObject{object("a", "manage"), object("b", "manage", "owner")}, Definitions: []Definition{{Name: "x"}},
				Generations: map[types.UID]int64{"owner": 2, "new": 1}, Ready: map[string]string{"new": "True"}},
			wantAdded: true,
		},
		"former generation": {
			reason:    "the operator has applied the owner's former spec",
			b:         Backup{Generations: map[types.UID]int64{"owner": 3}},
			other:     Backup{Operator: []OperatorObject{object("a", "manage", "owner")}, Generations: map[types.UID]int64{"owner": 2}},
			want:      Backup{Operator: []OperatorObject{object("a", "manage", "owner")}, Generations: map[types.UID]int64{"owner": 2}},
			wantAdded: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.b
			if added := got.AddMissing(&test.other); added != test.wantAdded {
				t.Errorf("%s: added %t, want %t", test.reason, added, test.wantAdded)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
