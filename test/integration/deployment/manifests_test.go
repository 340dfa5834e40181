package deployment_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestPod makes the Deployment's pod, as it is and less safe, in the namespace that the manifests make.
func TestPod(t *testing.T) {
	template := readDeployment(t, installManifests(t)).Spec.Template
	for name, test := range map[string]struct {
		reason string
		change func(*corev1.PodSpec)
		// refused is a part of the API server's error, "" if it creates the pod.
		refused string
	}{
		"as it is": {reason: "the pod keeps the rules of its namespace"},
		"root": {"the right to change the Deployment gives no root on nodes", func(s *corev1.PodSpec) {
			s.SecurityContext.RunAsUser, s.SecurityContext.RunAsNonRoot = new(int64(0)), new(false)
		}, "runAsNonRoot"},
		"no seccomp": {"the right to change the Deployment gives no unfiltered system calls",
			func(s *corev1.PodSpec) { s.SecurityContext.SeccompProfile = nil }, "seccompProfile"},
		"host": {"the right to change the Deployment gives no network of nodes",
			func(s *corev1.PodSpec) { s.HostNetwork = true }, "hostNetwork"},
		"escalation": {"the right to change the Deployment gives no escalation of privileges",
			func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil },
			"allowPrivilegeEscalation"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "capz-", Labels: template.Labels},
				Spec: *template.Spec.DeepCopy()}
			if test.change != nil {
				test.change(&pod.Spec)
			}
			err := environment.Client.Create(t.Context(), pod, client.DryRunAll)
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("%s: %v", test.reason, err)
			case test.refused != "" &&
				(!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), `"restricted`)):
				t.Errorf("%s: %v, want a refusal for %s", test.reason, err, test.refused)
			}
		})
	}
}

// TestSelectors checks that the objects beside the Deployment select its pods and its ports.
func TestSelectors(t *testing.T) {
	objects := installManifests(t)
	d := readDeployment(t, objects)
	pods, ports := labels.Set(d.Spec.Template.Labels), map[string]bool{}
	container := d.Spec.Template.Spec.Containers[0]
	for _, port := range container.Ports {
		ports[port.Name] = true
	}

	service := readOnlyObject(t, objects, "Service", &corev1.Service{})
	policy := readOnlyObject(t, objects, "NetworkPolicy", &networkingv1.NetworkPolicy{})
	budget := readOnlyObject(t, objects, "PodDisruptionBudget", &policyv1.PodDisruptionBudget{})
	if selector := labels.SelectorFromSet(service.Spec.Selector); selector.Empty() || !selector.Matches(pods) {
		t.Errorf("the Service selects %s, the pods have %s", selector, pods)
	}
	for kind, selects := range map[string]*metav1.LabelSelector{"Deployment": d.Spec.Selector, "PodDisruptionBudget": budget.Spec.Selector,
		"NetworkPolicy": &policy.Spec.PodSelector} {
		selector, err := metav1.LabelSelectorAsSelector(selects)
		if err != nil || selector.Empty() || !selector.Matches(pods) {
			t.Errorf("the %s selects %v, the pods have %s: %v", kind, selector, pods, err)
		}
	}
	open := map[string]bool{}
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			open[port.Port.StrVal] = true
		}
	}
	webhooks := service.Spec.Ports[0].TargetPort.StrVal
	for _, port := range []string{webhooks, "metrics"} {
		if !ports[port] || !open[port] {
			t.Errorf("port %q: of the pod %t, open to others %t, want both", port, ports[port], open[port])
		}
	}
	if len(open) != 2 {
		t.Errorf("others reach the ports %v, want only webhooks and metrics", open)
	}
	if d.Spec.Replicas == nil || *d.Spec.Replicas != 2 || budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("%v replicas of which %v may be missing, want 2 and 1", d.Spec.Replicas, budget.Spec.MaxUnavailable)
	}
}

// TestMemory compares Go's own memory limit with the kernel's.
func TestMemory(t *testing.T) {
	container := readDeployment(t, installManifests(t)).Spec.Template.Spec.Containers[0]
	limit := container.Resources.Limits.Memory()
	soft := resource.Quantity{}
	for _, variable := range container.Env {
		if variable.Name == "GOMEMLIMIT" {
			soft = resource.MustParse(strings.TrimSuffix(variable.Value, "B"))
		}
	}
	if share := soft.AsApproximateFloat64() / limit.AsApproximateFloat64(); share < 0.85 || share > 0.95 {
		t.Errorf("GOMEMLIMIT is %s and the limit of the container %s, want about nine tenths", soft.String(), limit)
	}
	if container.Resources.Requests.Memory().IsZero() || container.Resources.Requests.Cpu().IsZero() {
		t.Errorf("requests are %v, want some of both", container.Resources.Requests)
	}
	if !container.Resources.Limits.Cpu().IsZero() {
		t.Errorf("a limit of processors makes leases run out: %v", container.Resources.Limits)
	}
}

// TestWebhookSources runs the command of docs/book/manager.md that restricts who reaches the webhooks.
func TestWebhookSources(t *testing.T) {
	installManifests(t)
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "manager.md"))
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^ *(kubectl patch networkpolicy .*)$`).FindSubmatch(page)
	if command == nil {
		t.Fatal("docs/book/manager.md has no command that patches the NetworkPolicy")
	}
	run := exec.CommandContext(t.Context(), "bash", "-c", string(command[1]))
	run.Env = append(os.Environ(), "KUBECONFIG="+environment.WriteKubeconfig(t, t.TempDir()))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	policy := &networkingv1.NetworkPolicy{}
	if err := environment.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "capz-controller-manager"},
		policy); err != nil {
		t.Fatal(err)
	}
	rule := policy.Spec.Ingress[0]
	if len(rule.From) != 1 || rule.From[0].IPBlock == nil || rule.Ports[0].Port.StrVal != "webhook-server" {
		t.Errorf("the rule for webhooks is %+v, want one source", rule)
	}
}

// TestProxy runs the commands of docs/book/manager.md for a proxy and a private CA.
func TestProxy(t *testing.T) {
	installManifests(t)
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "manager.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Proxy and private CA\n")
	section, _, _ = strings.Cut(section, "\n## ")
	commands := regexp.MustCompile(`(?m)^kubectl .*$`).FindAllString(section, -1)
	if len(commands) != 4 {
		t.Fatalf("the section has the commands %q", commands)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ca.crt"), []byte("-----BEGIN CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := environment.WriteKubeconfig(t, t.TempDir())
	for _, command := range commands {
		run := exec.CommandContext(t.Context(), "bash", "-c", command)
		run.Dir, run.Env = folder, append(os.Environ(), "KUBECONFIG="+kubeconfig)
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		if strings.HasPrefix(command, "kubectl get service") && net.ParseIP(string(out)) == nil {
			t.Errorf("%s: %q is no address", command, out)
		}
	}
	deployment := &appsv1.Deployment{}
	if err := environment.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "capz-controller-manager"}, deployment); err != nil {
		t.Fatal(err)
	}
	container, values := deployment.Spec.Template.Spec.Containers[0], map[string]string{}
	for _, variable := range container.Env {
		values[variable.Name] = variable.Value
	}
	mounted := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == values["SSL_CERT_DIR"] })
	if values["HTTPS_PROXY"] == "" || !strings.Contains(values["NO_PROXY"], "169.254.169.254") || values["GOGC"] == "" || !mounted ||
		len(container.VolumeMounts) != 3 {
		t.Errorf("the container has the variables %v and the mounts %v", values, container.VolumeMounts)
	}
}
