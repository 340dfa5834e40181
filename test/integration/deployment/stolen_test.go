package deployment_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestStolenToken tries, with the token of the manager's ServiceAccount, to become another ServiceAccount by way of a Secret. The token
// controller of kube-controller-manager runs, so a Secret of type kubernetes.io/service-account-token gets a token at once.
func TestStolenToken(t *testing.T) {
	stage := harness.NewStage(t, environment)
	objects := installManifests(t)
	startTokenController(t)
	victim := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "victim"}}
	stage.CreateObject(victim)
	secret := func(name string, of corev1.SecretType) *corev1.Secret {
		return &corev1.Secret{Type: of,
			ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: name,
				Annotations: map[string]string{corev1.ServiceAccountNameKey: victim.Name}}}
	}
	byAdministrator := secret("administrator", corev1.SecretTypeServiceAccountToken)
	stage.CreateObject(byAdministrator)
	stage.Eventually("the token controller fills Secrets", func() bool {
		stage.ReadObject(byAdministrator, byAdministrator.Name)
		return len(byAdministrator.Data[corev1.ServiceAccountTokenKey]) > 0
	})

	stolen := environment.ClientWith(t, requestToken(t, namespace, readDeployment(t, objects).Spec.Template.Spec.ServiceAccountName))
	stage.Eventually("the policy is in force", func() bool {
		return apierrors.IsForbidden(stolen.Create(t.Context(), secret("tried", corev1.SecretTypeServiceAccountToken), client.DryRunAll))
	})
	for name, test := range map[string]struct {
		reason  string
		of      corev1.SecretType
		refused bool
	}{
		"token of a ServiceAccount": {"it would be the ServiceAccount", corev1.SecretTypeServiceAccountToken, true},
		"bootstrap token":           {"it would join nodes", corev1.SecretTypeBootstrapToken, true},
		"azure.json":                {"the manager writes it", corev1.SecretTypeOpaque, false},
		"kubeconfig":                {"Cluster API's contract asks for the type", clusterv1.ClusterSecretType, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := stolen.Create(t.Context(), secret("stolen-"+strings.ReplaceAll(strings.ToLower(name), " ", "-"), test.of))
			checkRefusal(t, test.reason, err, test.refused, "the manager creates Secrets of type")
		})
	}
	for name, test := range map[string]struct {
		reason  string
		of      corev1.SecretType
		refused bool
	}{
		"changed token of a ServiceAccount": {"it would be another ServiceAccount", corev1.SecretTypeServiceAccountToken, true},
		"changed bootstrap token":           {"its groups could change", corev1.SecretTypeBootstrapToken, true},
		"credentials of another type":       {"the manager protects credentials in use", corev1.SecretTypeBasicAuth, false},
		"credentials of an own type": {"the manager protects credentials in use, whatever their type",
			"example.com/credentials", false},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := secret(strings.ReplaceAll(strings.ToLower(name), " ", "-"), test.of)
			theirs.Data = map[string][]byte{corev1.BasicAuthUsernameKey: []byte("a"), corev1.BasicAuthPasswordKey: []byte("b")}
			stage.CreateObject(theirs)
			before := theirs.DeepCopy()
			theirs.Finalizers = append(theirs.Finalizers, infrav1.CredentialFinalizer)
			theirs.Labels = map[string]string{"clusterctl.cluster.x-k8s.io/move": "true"}
			err := stolen.Patch(t.Context(), theirs, client.MergeFrom(before))
			checkRefusal(t, test.reason, err, test.refused, "the manager does not change Secrets of type")
			stage.ReadObject(theirs, theirs.Name)
			if test.refused == slices.Contains(theirs.Finalizers, infrav1.CredentialFinalizer) {
				t.Errorf("%s: the Secret has the finalizers %v", test.reason, theirs.Finalizers)
			}
			before = theirs.DeepCopy()
			theirs.Finalizers = nil
			if err := environment.Client.Patch(t.Context(), theirs, client.MergeFrom(before)); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkRefusal checks that the policy refuses a write with a message, or that nothing refuses it.
func checkRefusal(t *testing.T, reason string, err error, refused bool, message string) {
	t.Helper()
	switch {
	case !refused && err != nil:
		t.Errorf("%s: %v", reason, err)
	case refused && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), message)):
		t.Errorf("%s: got %v, want a refusal by the policy", reason, err)
	}
}

// startTokenController runs the token controller of kube-controller-manager until the test ends.
func startTokenController(t *testing.T) {
	t.Helper()
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(ports.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(filepath.Join(root, "bin", "kube-controller-manager"), "--kubeconfig="+environment.WriteKubeconfig(t, t.TempDir()),
		"--controllers=serviceaccount-token-controller", "--use-service-account-credentials=false", "--leader-elect=false",
		"--bind-address=127.0.0.1", "--secure-port="+port, "--cert-dir="+t.TempDir(),
		"--service-account-private-key-file="+environment.ServiceAccountKey())
	command.Env = os.Environ()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A process that has ended by itself takes no signal.
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
}
