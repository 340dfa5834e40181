package webhook

import (
	"encoding/json"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// testSSHKey is a public key in the form of spec.sshPublicKey; it is the base64 of an ed25519 key without a known private half.
const testSSHKey = "c3NoLWVkMjU1MTkgQUFBQUMzTnphQzFsWkRJMU5URTVBQUFBSUFFQ0F3UUZCZ2NJQ1FvTERBME9EeEFSRWhNVUZSWVhHQmthR3h3ZEhoOGcgY2FweiBub2JvZHkK"

// newCluster returns the smallest AzureCluster a user writes, with changes, not defaulted.
func newCluster(changes ...func(*infrav1.AzureCluster)) *infrav1.AzureCluster {
	c := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: "default"}}
	c.Spec.Location = "westeurope"
	c.Spec.SubscriptionID = "00000000-0000-0000-0000-000000000001"
	c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "identity"}
	c.Spec.ControlPlaneEnabled = true
	for _, change := range changes {
		change(c)
	}
	return c
}

// newDefaulted is newCluster with its defaults.
func newDefaulted(changes ...func(*infrav1.AzureCluster)) *infrav1.AzureCluster {
	c := newCluster(changes...)
	defaults.FillAzureCluster(c)
	return c
}

// newMachine returns the smallest AzureMachine a user writes, with the key that the handler adds, and with changes.
func newMachine(changes ...func(*infrav1.AzureMachine)) *infrav1.AzureMachine {
	m := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1", Namespace: "default"}}
	m.Spec.VMSize = "Standard_D2s_v5"
	m.Spec.Identity = infrav1.VMIdentityNone
	m.Spec.OSDisk = infrav1.OSDisk{OSType: infrav1.LinuxOS, CachingType: infrav1.CachingNone}
	m.Spec.SSHPublicKey = testSSHKey
	for _, change := range changes {
		change(m)
	}
	return m
}

// deletionTime is when an object was asked to go.
var deletionTime = metav1.Now()

// newSubnets are subnets with names, one for the control plane and one for nodes.
func newSubnets(cidrs ...string) infrav1.Subnets {
	subnets := infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: cidrs}},
	}
	return subnets
}

// errorPaths returns what of an error a test compares: the path and the kind.
func errorPaths(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Field+": "+string(err.Type))
	}
	return out
}

func mustJSON(t *testing.T, obj any) string {
	t.Helper()
	raw, err := json.MarshalIndent(obj, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// validateUpdate returns the errors that the webhook of a kind has for an update.
func validateUpdate[T client.Object](t *testing.T, k kind[T], old, obj T) field.ErrorList {
	t.Helper()
	_, err := k.ValidateUpdate(t.Context(), old, obj)
	return listRefusals(t, err)
}

// listRefusals returns the errors for which an object was refused.
func listRefusals(t *testing.T, err error) (errs field.ErrorList) {
	t.Helper()
	if err == nil {
		return nil
	}
	refusal, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		t.Fatal(err)
	}
	for _, cause := range refusal.ErrStatus.Details.Causes {
		errs = append(errs, &field.Error{Type: field.ErrorType(cause.Type), Field: cause.Field, Detail: cause.Message})
	}
	return errs
}
