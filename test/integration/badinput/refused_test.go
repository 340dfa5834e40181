package badinput_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestRefusedCluster creates AzureClusters that the API server refuses at once, with the path of the field.
func TestRefusedCluster(t *testing.T) {
	t.Parallel()
	subnets := func(controlPlane, node string) infrav1.Subnets {
		return infrav1.Subnets{
			{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{controlPlane}}},
			{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{node}}},
		}
	}
	tests := map[string]struct {
		reason  string
		change  func(c *infrav1.AzureCluster)
		path    string
		message []string
		correct func(c *infrav1.AzureCluster)
	}{
		"subnet outside of the network": {
			reason: "the node subnet's address range is not within the network's",
			change: func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8"}
				c.Spec.NetworkSpec.Subnets = subnets("10.0.0.0/16", "192.168.0.0/16")
			},
			path:    "spec.networkSpec.subnets[1].cidrBlocks",
			message: []string{"192.168.0.0/16", "10.0.0.0/8"},
			correct: func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.Subnets = subnets("10.0.0.0/16", "10.1.0.0/16") },
		},
		"no identity": {
			reason:  "without an identity no request to Azure is possible",
			change:  func(c *infrav1.AzureCluster) { c.Spec.IdentityRef = nil },
			path:    "spec.identityRef",
			message: []string{"AzureClusterIdentity"},
			correct: func(c *infrav1.AzureCluster) { c.Spec.IdentityRef = harness.IdentityRef() },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			azureCluster := stage.AzureCluster("c1")
			test.change(azureCluster)
			checkRefused(t, test.reason, stage.TryCreateCluster(azureCluster), test.path, test.message)
			if requests := stage.Azure.RequestsSince(0); len(requests) > 0 {
				t.Errorf("Azure need not be asked: %q", requests)
			}

			test.correct(azureCluster)
			stage.CreateCluster(azureCluster)
			stage.WaitClusterProvisioned("c1")
		})
	}
}

// TestRefusedMachine creates AzureMachines that the API server refuses at once.
func TestRefusedMachine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		change  func(m *infrav1.AzureMachine)
		path    string
		message []string
		correct func(m *infrav1.AzureMachine)
	}{
		"ssh key that is not base64": {
			reason:  "the field is a line of an authorized_keys file in base64",
			change:  func(m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = "ssh-rsa AAAA me@example.com" },
			path:    "spec.sshPublicKey",
			message: []string{"base64"},
			correct: func(m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = sshKey },
		},
		"ssh key that is cut off": {
			reason: "the base64 is fine, and what it holds is not a key",
			change: func(m *infrav1.AzureMachine) {
				m.Spec.SSHPublicKey = base64.StdEncoding.EncodeToString([]byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"))
			},
			path:    "spec.sshPublicKey",
			message: []string{"key"},
			correct: func(m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = sshKey },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			stage.CreateCluster(stage.AzureCluster("c1"))
			stage.WaitClusterProvisioned("c1")
			before := stage.Azure.ListResources()
			machine := stage.AzureMachine("c1", "m")
			test.change(machine)
			checkRefused(t, test.reason, stage.TryCreateMachine(machine, harness.Worker, ""), test.path, test.message)
			if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s, but something was made (-before +after):\n%s", test.reason, diff)
			}

			test.correct(machine)
			stage.CreateMachine(machine, harness.Worker, "")
			stage.WaitMachineProvisioned("m")
		})
	}
}

// sshKey is a valid value of the field: a public key without a known private key.
var sshKey = func() string {
	key, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(ssh.MarshalAuthorizedKey(key))
}()

// checkRefused checks that the API server rejected this field, and that the message has the reason.
func checkRefused(t *testing.T, reason string, err error, path string, parts []string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		t.Fatalf("%s, but the API server answers %v", reason, err)
	}
	var fields []string
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	if !strings.Contains(strings.Join(fields, " "), path) && !strings.Contains(err.Error(), path) {
		t.Errorf("%s, but the refusal does not name %s: %v", reason, path, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s, but the refusal lacks %q: %v", reason, part, err)
		}
	}
	t.Log(err)
}
