package webhook

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// newStrictKind returns a kind that refuses every request with a warning, and records which rules ran.
func newStrictKind(ran *[]string) kind[*infrav1.AzureMachineTemplate] {
	type object = *infrav1.AzureMachineTemplate
	refusal := func(rule string) field.ErrorList {
		*ran = append(*ran, rule)
		return field.ErrorList{field.Forbidden(field.NewPath("spec"), rule)}
	}
	return kind[object]{
		template: true,
		spec:     func(t object) any { return &t.Spec },
		fill:     func(context.Context, object) error { *ran = append(*ran, "fill"); return nil },
		defaults: func(t object) { *ran = append(*ran, "defaults"); t.Spec.Template.Spec.FailureDomain = new("default") },
		create:   of(func(object) field.ErrorList { return refusal("create") }),
		identity: func(old, t object) field.ErrorList {
			*ran = append(*ran, "identity")
			if old.Spec.Template.Spec.RoleAssignmentName == t.Spec.Template.Spec.RoleAssignmentName {
				return nil
			}
			return field.ErrorList{field.Forbidden(field.NewPath("spec"), "identity")}
		},
		update: between(func(_, _ object) field.ErrorList { return refusal("update") }),
		remove: of(func(object) field.ErrorList { return refusal("remove") }),
		warn: func(old, _ object) admission.Warnings {
			if old == nil {
				return admission.Warnings{"made"}
			}
			return admission.Warnings{"changed"}
		},
	}
}

// TestKind tests the handler of all kinds.
func TestKind(t *testing.T) {
	type object = *infrav1.AzureMachineTemplate
	resized := func(changes ...func(object)) object {
		template := newMachineTemplate(func(s *infrav1.AzureMachineSpec) { s.VMSize, s.FailureDomain = "Standard_D4s_v5", new("default") })
		for _, change := range changes {
			change(template)
		}
		return template
	}
	same := func() object {
		return newMachineTemplate(func(s *infrav1.AzureMachineSpec) { s.FailureDomain = new("default") })
	}
	dryRun := admission.NewContextWithRequest(t.Context(),
		admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: new(true)}})
	annotated := func(t object) { t.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""} }
	stored := newMachineTemplate(func(*infrav1.AzureMachineSpec) {})
	for name, tc := range map[string]struct {
		reason   string
		ask      func(kind[object]) (admission.Warnings, error)
		ran      []string
		warnings admission.Warnings
		admitted bool
	}{
		"create": {
			reason: "an object that is made is checked by itself", ran: []string{"create"}, warnings: admission.Warnings{"made"},
			ask: func(k kind[object]) (admission.Warnings, error) { return k.ValidateCreate(t.Context(), resized()) },
		},
		"update": {
			reason: "both objects get their defaults, and nothing that is random", ran: []string{"defaults", "defaults", "identity", "update"},
			warnings: admission.Warnings{"changed"},
			ask: func(k kind[object]) (admission.Warnings, error) {
				return k.ValidateUpdate(t.Context(), stored, resized())
			},
		},
		"same": {
			reason: "specs that are equal after defaulting are equal", ran: []string{"defaults", "defaults"}, admitted: true,
			ask: func(k kind[object]) (admission.Warnings, error) { return k.ValidateUpdate(t.Context(), stored, same()) },
		},
		"deleting": {
			reason: "finalizers can be removed together with almost any other change", ran: []string{"defaults", "defaults", "identity"},
			admitted: true,
			ask: func(k kind[object]) (admission.Warnings, error) {
				return k.ValidateUpdate(t.Context(), stored, resized(func(t object) { t.DeletionTimestamp = &deletionTime }))
			},
		},
		"another resource while deleting": {
			reason: "the deletion finds the resources by their names", ran: []string{"defaults", "defaults", "identity"},
			ask: func(k kind[object]) (admission.Warnings, error) {
				return k.ValidateUpdate(t.Context(), stored, resized(func(t object) {
					t.DeletionTimestamp, t.Spec.Template.Spec.RoleAssignmentName = &deletionTime, "another"
				}))
			},
		},
		"finalizer while deleting": {
			reason: "metadata changes are never refused", ran: []string{"defaults", "defaults"}, admitted: true,
			ask: func(k kind[object]) (admission.Warnings, error) {
				released := same()
				released.DeletionTimestamp, released.Annotations = &deletionTime, map[string]string{"a": "b"}
				return k.ValidateUpdate(t.Context(), stored, released)
			},
		},
		"dry run": {
			reason: "Cluster API finds out whether the template has to be rotated", admitted: true,
			ask: func(k kind[object]) (admission.Warnings, error) {
				return k.ValidateUpdate(dryRun, stored, resized(annotated))
			},
		},
		"dry run by another client": {
			reason: "a dry run of kubectl is checked", ran: []string{"defaults", "defaults", "identity", "update"}, warnings: admission.Warnings{"changed"},
			ask: func(k kind[object]) (admission.Warnings, error) { return k.ValidateUpdate(dryRun, stored, resized()) },
		},
		"dry run of another kind": {
			reason: "only templates are rotated", ran: []string{"defaults", "defaults", "identity", "update"}, warnings: admission.Warnings{"changed"},
			ask: func(k kind[object]) (admission.Warnings, error) {
				k.template = false
				return k.ValidateUpdate(dryRun, stored, resized(annotated))
			},
		},
		"delete": {
			reason: "a kind may keep objects that others need", ran: []string{"remove"},
			ask: func(k kind[object]) (admission.Warnings, error) { return k.ValidateDelete(t.Context(), same()) },
		},
		"nothing declared": {
			reason: "a kind without rules admits everything", admitted: true,
			ask: func(kind[object]) (admission.Warnings, error) {
				var k kind[object]
				_, created := k.ValidateCreate(t.Context(), same())
				_, updated := k.ValidateUpdate(t.Context(), stored, resized())
				_, removed := k.ValidateDelete(t.Context(), same())
				return nil, errors.Join(created, updated, removed)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []string
			warnings, err := tc.ask(newStrictKind(&ran))
			if apierrors.IsInvalid(err) == tc.admitted || tc.admitted && err != nil {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.ran, ran); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
	if stored.Spec.Template.Spec.FailureDomain != nil {
		t.Error("the stored object is another one")
	}
}

// TestUndecidedRequestIsNotAdmitted passes on why rules could not tell: a request that is not decided is not admitted.
func TestUndecidedRequestIsNotAdmitted(t *testing.T) {
	down := errors.New("the API server is down")
	k := newStrictKind(new([]string))
	k.fill = func(context.Context, *infrav1.AzureMachineTemplate) error { return down }
	k.create = func(context.Context, *infrav1.AzureMachineTemplate) (field.ErrorList, error) { return nil, down }
	k.update = func(context.Context, *infrav1.AzureMachineTemplate, *infrav1.AzureMachineTemplate) (field.ErrorList, error) {
		return nil, down
	}
	k.remove = k.create
	template := newMachineTemplate(func(*infrav1.AzureMachineSpec) {})
	_, created := k.ValidateCreate(t.Context(), template)
	_, updated := k.ValidateUpdate(t.Context(), newMachineTemplate(func(s *infrav1.AzureMachineSpec) { s.VMSize = "other" }), template)
	_, removed := k.ValidateDelete(t.Context(), template)
	for request, err := range map[string]error{"default": k.Default(t.Context(), template), "create": created, "update": updated,
		"delete": removed} {
		if !errors.Is(err, down) {
			t.Errorf("%s: got %v", request, err)
		}
	}
}

// foundByRecord are the kinds without a rule about names while their objects are deleted, with the reason.
var foundByRecord = map[string]string{
	"AzureCluster":                     "its deletion has the applied annotation and all resources with the cluster's tags",
	"AzureManagedControlPlane":         "its deletion has the applied annotation",
	"AzureASOManagedCluster":           "its deletion has the applied annotation",
	"AzureASOManagedControlPlane":      "its deletion has the applied annotation",
	"AzureASOManagedMachinePool":       "its deletion has the applied annotation",
	"AzureClusterIdentity":             "it has no resources",
	"AzureClusterTemplate":             "it has no resources",
	"AzureMachineTemplate":             "it has no resources",
	"AzureManagedControlPlaneTemplate": "it has no resources",
	"AzureManagedMachinePoolTemplate":  "it has no resources",
}

// TestNamesOfDeletedObjects expects of each kind that the deletion of its objects finds the resources under their former names: by a rule
// for updates, which a table of the kind tests, or by a record.
func TestNamesOfDeletedObjects(t *testing.T) {
	for _, each := range servedKinds(nil, plan.Features{}, false) {
		rule, reason := !reflect.ValueOf(each).FieldByName("identity").IsNil(), foundByRecord[each.name()]
		if rule == (reason != "") {
			t.Errorf("%s: keeps names by a rule: %t, by a record: %q", each.name(), rule, reason)
		}
	}
}
