package webhook

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// noKeys is a generator that has nothing to give.
type noKeys struct{}

func (noKeys) sshPublicKey() (string, error) { return "", errors.New("no entropy") }
func (noKeys) roleAssignmentName() string    { return "" }

func TestManagedSSHKey(t *testing.T) {
	creation := admission.NewContextWithRequest(context.Background(),
		admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}})
	withKey := newControlPlane(func(c *infrav1.AzureManagedControlPlane) { c.Spec.SSHPublicKey = new(testSSHKey) })
	for name, tc := range map[string]struct {
		reason    string
		ctx       context.Context
		key, want *string
		made      bool
	}{
		"none":  {reason: "without a key, nodes have none", ctx: creation},
		"given": {reason: "a key that is given is taken", ctx: creation, key: new(testSSHKey), want: new(testSSHKey)},
		"empty": {reason: "an empty key asks for one", ctx: creation, key: new(""), made: true},
		"applied again": {reason: "a manifest with an empty key can be applied again", ctx: updateOf(t, withKey), key: new(""),
			want: new(testSSHKey)},
		"had none": {reason: "a cluster that has no key does not get one later", ctx: updateOf(t, newControlPlane()), key: new(""),
			want: new("")},
		"removed": {reason: "validation refuses a removed key", ctx: updateOf(t, withKey)},
		"another is set": {reason: "another key is for validation to refuse", ctx: updateOf(t, withKey), key: new("b3RoZXI="),
			want: new("b3RoZXI=")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newControlPlane(func(c *infrav1.AzureManagedControlPlane) { c.Spec.SSHPublicKey = tc.key })
			if err := controlPlanes(managedLookup{}, random{}).Default(tc.ctx, c); err != nil {
				t.Fatal(err)
			}
			if tc.made {
				if !isSet(c.Spec.SSHPublicKey) || len(ValidateAzureManagedControlPlane(c, nil)) > 0 {
					t.Errorf("%s: got %v", tc.reason, c.Spec.SSHPublicKey)
				}
				return
			}
			if diff := cmp.Diff(tc.want, c.Spec.SSHPublicKey); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
	c := newControlPlane(func(c *infrav1.AzureManagedControlPlane) { c.Spec.SSHPublicKey = new("") })
	if err := controlPlanes(managedLookup{}, noKeys{}).Default(creation, c); err == nil {
		t.Error("a key that cannot be made is an error, not a cluster with an invalid key")
	}
}

// TestWrongSSHKeysAreNotShown gives every kind with an SSH key a private key, encoded or not: users paste the wrong file.
func TestWrongSSHKeysAreNotShown(t *testing.T) {
	const pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\n-----END OPENSSH PRIVATE KEY-----\n"
	for _, key := range []string{pem, base64.StdEncoding.EncodeToString([]byte(pem)), "hunter2"} {
		machine := newMachine(func(m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = key })
		machineTemplate := newMachineTemplate(func(s *infrav1.AzureMachineSpec) { s.SSHPublicKey = key })
		pool := &infrav1.AzureMachinePool{}
		pool.Spec.Template.SSHPublicKey = key
		controlPlane := newControlPlane(func(c *infrav1.AzureManagedControlPlane) { c.Spec.SSHPublicKey = &key })
		errs := map[string]error{}
		_, errs["AzureMachine"] = azureMachineKind(nil, random{}).ValidateCreate(t.Context(), machine)
		_, errs["AzureMachineTemplate"] = machineTemplates(random{}).ValidateCreate(t.Context(), machineTemplate)
		_, errs["AzureMachinePool"] = machinePools(nil, random{}).ValidateCreate(t.Context(), pool)
		errs["AzureManagedControlPlane"] = ValidateAzureManagedControlPlane(controlPlane, nil).ToAggregate()
		_, errs["AzureManagedControlPlane, changed"] = controlPlanes(managedLookup{}, random{}).ValidateUpdate(t.Context(),
			newControlPlane(func(c *infrav1.AzureManagedControlPlane) { c.Spec.SSHPublicKey = new(testSSHKey) }), controlPlane)
		for kind, err := range errs {
			if err == nil || strings.Contains(fmt.Sprintf("%+v", err), key[:7]) || strings.Contains(err.Error(), key[len(key)-7:]) {
				t.Errorf("%s: the key is refused and not shown: %v", kind, err)
			}
		}
	}
}
