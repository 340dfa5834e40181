package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// accounts is where the bench keeps ServiceAccounts.
const accounts = "kube-system"

// program is one process of a provider that is not the lab's own.
type program struct {
	settings.Manager
	// command is for a shell; components is the file with its manifests, "" for none.
	command, components string
}

// left are kinds of a release that ask for a cluster that runs pods.
var left = []string{"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy", "Certificate", "Issuer", "ServiceMonitor"}

// installManifests applies the program's manifests with webhooks that lead to its port.
func (p program) installManifests(ctx context.Context, s *settings.Settings) (webhooks bool, err error) {
	if p.components == "" {
		return false, nil
	}
	raw, err := management.RunClusterctl(ctx, s, nil, "generate", "yaml", "--from="+p.components)
	if err != nil {
		return false, err
	}
	objects, err := provider.DecodeDocuments(raw)
	if err != nil {
		return false, fmt.Errorf("%s: %w", p.components, err)
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return slices.Contains(left, o.GetKind()) })
	ca, err := os.ReadFile(s.JoinPath("pki", pki.CACert))
	if err != nil {
		return false, err
	}
	if objects, err = provider.LocalizeWebhooks(objects, provider.Webhooks{Port: s.WebhookPort(p.Manager), CABundle: ca}); err != nil {
		return false, fmt.Errorf("%s: %w", p.components, err)
	}
	for _, object := range objects {
		webhooks = webhooks || object.GetKind() == "MutatingWebhookConfiguration" || object.GetKind() == "ValidatingWebhookConfiguration"
	}
	return webhooks, management.InstallObjects(ctx, s, objects)
}

// startProgram starts the program and waits until its webhooks answer, if it has any.
func (p program) startProgram(ctx context.Context, s *settings.Settings, webhooks bool) error {
	variables := management.ClientEnvironment(s)
	kubeconfig := s.JoinPath("pods", p.Name, "kubeconfig")
	maps.Copy(variables, map[string]string{
		"KUBECONFIG": kubeconfig, "PATH": os.Getenv("PATH"), "HOME": s.Dir, "TMPDIR": s.Dir,
		"WEBHOOK_PORT": strconv.Itoa(s.WebhookPort(p.Manager)), "WEBHOOK_CERT_DIR": s.JoinPath("pki", pki.WebhookDir),
		"HEALTH_ADDRESS": s.HealthAddress(p.Manager), "DIAGNOSTICS_ADDRESS": s.DiagnosticsAddress(p.Manager),
		"POD_NAMESPACE": accounts, "POD_NAME": p.Name,
	})
	// With exec the lab watches and ends the program itself, and no shell before it.
	spec := process.Spec{Name: p.Name, Path: "/bin/sh", Args: []string{"-c", "exec " + p.command}, Log: s.LogPath(p.Name)}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		spec.Env = append(spec.Env, name+"="+variables[name])
	}
	if webhooks {
		spec.Ready = func(ctx context.Context) error {
			connection, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", s.WebhookPort(p.Manager)))
			if err != nil {
				return fmt.Errorf("its webhooks do not answer: %w", err)
			}
			return connection.Close()
		}
	}
	_, err := management.ProcessTable(s).Start(ctx, spec)
	return err
}

// createAdminToken makes a ServiceAccount that may do everything, and returns a token of it.
func createAdminToken(ctx context.Context, kube client.Client, name string) (token string, err error) {
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: accounts, Name: name}}
	if err := kube.Create(ctx, object); err != nil {
		return "", err
	}
	if err := kube.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: accounts, Name: name}},
	}); err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	err = kube.SubResource("token").Create(ctx, object, request)
	return request.Status.Token, err
}

// accountName returns how the audit log calls a ServiceAccount.
func accountName(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}

// writeKubeconfig writes the file by which the program finds the management cluster, as an account of its own: calls are distinguished
// by it.
func (p program) writeKubeconfig(s *settings.Settings, token string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: s.APIServerURL(), CertificateAuthority: s.JoinPath("pki", pki.CACert)}
	config.AuthInfos["lab"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab", Namespace: metav1.NamespaceDefault}
	config.CurrentContext = "lab"
	file := s.JoinPath("pods", p.Name, "kubeconfig")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return clientcmd.WriteToFile(*config, file)
}

// pairPrograms pairs commands with manifests.
func pairPrograms(commands, components []string) ([]program, error) {
	if len(components) > len(commands) {
		return nil, fmt.Errorf("--components is given %d times and --provider %d times: each file belongs to the command of its place",
			len(components), len(commands))
	}
	var out []program
	for i, command := range commands {
		p := program{Manager: settings.ForeignManager(i), command: command}
		if i < len(components) {
			if _, err := os.Stat(components[i]); err != nil {
				return nil, fmt.Errorf("--components: %w", err)
			}
			file, err := filepath.Abs(components[i])
			if err != nil {
				return nil, err
			}
			p.components = file
		}
		out = append(out, p)
	}
	return out, nil
}

// endSession ends all that a program has started and left behind.
func endSession(pid int) error {
	if pid == 0 {
		return nil
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// newIdentity returns the one that templates name, as every provider knows it: a service principal with its secret.
func newIdentity() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureClusterIdentity",
		"metadata": map[string]any{
			"name": management.IdentityName, "namespace": management.Namespace,
			"labels": map[string]any{"clusterctl.cluster.x-k8s.io/move-hierarchy": "true"},
		},
		"spec": map[string]any{
			"type": "ServicePrincipal", "allowedNamespaces": map[string]any{}, "tenantID": settings.TenantID, "clientID": settings.ClientID,
			"clientSecret": map[string]any{"name": management.IdentitySecret, "namespace": management.Namespace},
		},
	}}
}
