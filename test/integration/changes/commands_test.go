package changes_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var commandBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// listCommands returns the lines of the blocks with commands of a page of the book, with names replaced.
func listCommands(t testing.TB, page string, names ...string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "book", page))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range commandBlock.FindAllStringSubmatch(string(raw), -1) {
		out = append(out, strings.Split(strings.TrimSpace(strings.NewReplacer(names...).Replace(block[1])), "\n")...)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no command", page)
	}
	return out
}

// TestCommandsOfTheBook runs the commands of the pages on conditions, events, tenants and deleting on a cluster, and checks their
// output and effects.
func TestCommandsOfTheBook(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	clusterWithMachine(stage, harness.Worker, "")
	stage.Eventually("the first event exists", func() bool {
		return slices.Contains(stage.ListEvents("AzureCluster", "c1"), "Normal Ready everything is in place")
	})

	for _, line := range listCommands(t, "events.md", "my-cluster", "c1") {
		if out := stage.RunShell(line); !strings.Contains(out, "everything is in place") {
			t.Errorf("%s does not show the story of the cluster:\n%s", line, out)
		}
	}
	for _, line := range listCommands(t, "conditions.md", "my-machine", "m1") {
		stage.RunShell(line)
		machine := &infrav1.AzureMachine{}
		stage.ReadObject(machine, "m1")
		asked := machine.Annotations[infrav1.ReconcileRequestedAnnotation]
		if asked == "" {
			t.Fatalf("%s requests no reconciliation", line)
		}
		harness.WaitFor(stage, machine, "m1", "looked at as asked",
			func(m *infrav1.AzureMachine) bool { return m.Status.LastHandledReconcileAt == asked })
	}
	for _, line := range listCommands(t, "tenancy.md", "-n default", "-n "+stage.Namespace, "cluster-identity-secret", harness.IdentityName) {
		stage.RunShell(line)
	}
	secret := &corev1.Secret{}
	stage.ReadObject(secret, harness.IdentityName)
	if got := secret.Annotations[infrav1.IdentityNamespacesAnnotation]; got != "team-a,team-b" {
		t.Errorf("the page on tenants lets the Secret be used by %q", got)
	}
	stage.ReadObject(&corev1.ServiceAccount{}, infrav1.WorkloadIdentityServiceAccount)
	stopManagers(stage)
	for _, line := range listCommands(t, "deleting.md", "cluster c1 --namespace default", "cluster c1 --wait=false --namespace "+stage.Namespace,
		"azurecluster c1 --namespace default", "azurecluster c1 --namespace "+stage.Namespace, "-n default azurecluster", "-n "+stage.Namespace+" azurecluster") {
		if strings.HasPrefix(line, "az ") {
			continue // TestBookHasTheCommandsForLostTags of internal/arm/engine compares these with the error that gives them.
		}
		stage.RunShell(line)
	}
	stage.Eventually("the Cluster is to be deleted", func() bool {
		found := newCluster("c1")
		stage.ReadObject(found, "c1")
		return !found.DeletionTimestamp.IsZero()
	})
	stage.DeleteCluster("c1", "m1")
}

// stopManagers runs the commands of the page on backups that stop the managers of the former management cluster.
func stopManagers(stage *harness.Stage) {
	stage.T.Helper()
	labels := map[string]string{"app": "manager"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "manager"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "manager", Image: "registry.example/manager"}}}}}}
	stage.CreateObject(deployment)
	var namespaces []string
	for _, line := range listCommands(stage.T, "backup.md") {
		before, namespace, is := strings.Cut(line, " --namespace ")
		if !is || !strings.HasPrefix(line, "kubectl ") {
			continue
		}
		namespaces = append(namespaces, namespace)
		harness.ChangeObject(stage, deployment, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) })
		stage.RunShell(before + " --namespace " + stage.Namespace)
		stage.ReadObject(deployment, "manager")
		if replicas := *deployment.Spec.Replicas; replicas != 0 {
			stage.T.Errorf("%s leaves %d replicas", line, replicas)
		}
	}
	want := []string{"capz-system", "capi-system", "capi-kubeadm-bootstrap-system", "capi-kubeadm-control-plane-system"}
	if !slices.Equal(namespaces, want) {
		stage.T.Errorf("the page stops the managers in %q, want %q", namespaces, want)
	}
}
