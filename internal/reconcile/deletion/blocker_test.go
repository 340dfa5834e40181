package deletion_test

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

func newBlocker(finalizers ...string) deletion.Blocker {
	return deletion.Blocker{
		Object: &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Finalizers: finalizers}}, Kind: "AzureMachine",
		Finalizers: []string{infrav1.MachineFinalizer}, Resources: deletion.Resources{Identity: "AzureClusterIdentity ns/id",
			User: "AzureCluster c", AzureResources: "the VM", ResourceNames: []string{"m"}}, TagKey: "owner", TagValue: "ns/c/1", Subscription: "s",
	}
}

func TestWaysOut(t *testing.T) {
	const another = ", or set spec.identityRef of AzureCluster c to an identity that may delete it"
	code := func(status int, code string, details ...string) error {
		err := &arm.Error{Status: status, Code: code}
		for _, detail := range details {
			err.Details = append(err.Details, arm.Detail{Code: detail})
		}
		return err
	}
	tests := map[string]struct {
		reason string
		errs   []error
		want   []string
	}{
		"nothing":    {"no cause, no way out of it", nil, nil},
		"throttled":  {"it ends by itself", []error{code(429, "TooManyRequests")}, nil},
		"outage":     {"it ends by itself", []error{code(503, "ServiceUnavailable")}, nil},
		"kubernetes": {"it ends by itself", []error{errors.New("the API server did not answer")}, nil},
		"identity": {"either the identity or the reference can change", []error{&identity.Error{Code: identity.IdentityNotFound}},
			[]string{"create AzureClusterIdentity ns/id" + another}},
		"namespace": {"the owner of the identity decides", []error{&identity.Error{Code: identity.NamespaceNotAllowedByIdentity}},
			[]string{"let spec.allowedNamespaces of AzureClusterIdentity ns/id include ns" + another}},
		"lock": {"locks are removed by people", []error{code(409, "ScopeLocked")},
			[]string{"remove the lock that Azure names, as by az lock delete"}},
		"case": {"Azure's codes differ in case", []error{code(409, "scopelocked")},
			[]string{"remove the lock that Azure names, as by az lock delete"}},
		"detail": {"the cause is in the details of the group's deletion", []error{code(409, "ResourceGroupDeletionFailed", "ScopeLocked")},
			[]string{"remove the lock that Azure names, as by az lock delete"}},
		"in use": {"it waits, maybe for a resource that is never deleted", []error{code(400, "InUseSubnetCannotBeDeleted")},
			[]string{"delete or detach the resources that still use it"}},
		"lost tag": {"the error has the commands", []error{code(200, "OwnershipTagLost")},
			[]string{"run one of the commands that the message gives"}},
		"unknown": {"a permanent refusal needs a user", []error{code(400, "SomethingNew")},
			[]string{"correct the cause of Azure's refusal"}},
		"the same": {"shown once", []error{code(409, "ScopeLocked"), code(409, "ScopeLocked")},
			[]string{"remove the lock that Azure names, as by az lock delete"}},
		"two causes": {"each has its way", []error{code(409, "ScopeLocked"), code(400, "NicInUse")},
			[]string{"remove the lock that Azure names, as by az lock delete", "delete or detach the resources that still use it"}},
		"many causes": {"no more than a person reads",
			[]error{code(409, "ScopeLocked"), code(400, "NicInUse"), code(403, "RequestDisallowedByPolicy"), code(400, "SomethingNew")},
			[]string{"remove the lock that Azure names, as by az lock delete", "delete or detach the resources that still use it",
				"exempt it from the policy that Azure names, or change the assignment"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := ""
			if test.want != nil {
				want = ". To unblock the deletion: " + strings.Join(test.want, "; or ") +
					`; or delete the VM without the provider and remove the finalizers: for id in $(az resource list --subscription s --tag owner=ns/c/1 --query "[?contains(['m'], name)].id" --output tsv); ` +
					`do az resource delete --ids "$id"; done && kubectl patch -n ns azuremachine/m --type=merge -p '{"metadata":{"finalizers":[]}}'`
			}
			if got := newBlocker(infrav1.MachineFinalizer).WaysOut(test.errs...); got != want {
				t.Errorf("%s:\n got %s\nwant %s", test.reason, got, want)
			}
		})
	}
}

func TestCommandKeepsFinalizersOfOthers(t *testing.T) {
	h := newBlocker("others.example.com/a", infrav1.MachineFinalizer, "others.example.com/b")
	want := `kubectl patch -n ns azuremachine/m --type=merge -p '{"metadata":{"finalizers":["others.example.com/a","others.example.com/b"]}}'`
	if got := deletion.RemoveFinalizersCommand(h.Object, h.Kind, h.Finalizers...); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
