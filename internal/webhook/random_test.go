package webhook

import (
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestUnusableKey checks that every call returns the same key, and that the rules of the API accept it.
func TestUnusableKey(t *testing.T) {
	first, err := random{}.sshPublicKey()
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if again, err := (random{}).sshPublicKey(); err != nil || again != first {
			t.Fatalf("another key: %v", err)
		}
	}
	if errs := ValidateSSHPublicKey(first, field.NewPath("spec", "sshPublicKey")); len(errs) > 0 {
		t.Error(errs)
	}
	line, err := base64.StdEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		t.Fatal(err)
	}
	if key.Type() != ssh.KeyAlgoRSA {
		t.Errorf("the key is %s, and Azure takes RSA for every image", key.Type())
	}
}

// TestNoWaitForCluster defaults a machine whose Cluster does not exist yet, in virtual time, which passes only while everything waits.
func TestNoWaitForCluster(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		placement := PlacementOf(fake.NewClientBuilder().WithScheme(scheme).Build())
		ctx := admission.NewContextWithRequest(t.Context(),
			admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}})
		m := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "early",
			Labels: map[string]string{clusterv1.ClusterNameLabel: "late"}}}
		m.Spec.Identity = infrav1.VMIdentitySystemAssigned
		begun := time.Now()
		if err := azureMachineKind(placement, random{}).Default(ctx, m); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("the webhook waited %s for the cluster", took)
		}
		if role := m.Spec.SystemAssignedIdentityRole; m.Spec.SSHPublicKey == "" || role == nil || role.Name == "" || role.Scope != "" {
			t.Errorf("want a key, and a role with a name and no scope yet, got %q and %+v", m.Spec.SSHPublicKey, role)
		}
	})
}
