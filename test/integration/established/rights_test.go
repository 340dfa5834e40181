package established_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/rights"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestReport checks a manager's comparison of its rights with those that it needs, in installations as users have them.
func TestReport(t *testing.T) {
	createNamespace(t, "capz-system")
	createNamespace(t, "tenant")
	everywhere := rights.Scope{LeaseNamespace: "capz-system"}
	byNamespace := rights.Scope{LeaseNamespace: "capz-system", SecretNamespaces: []string{"tenant"}}
	unbind := func(t *testing.T, name string) {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := api.client.Delete(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
	bind := func(t *testing.T, role string) {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "capz-manager", Namespace: "capz-system"}},
		}
		if err := api.client.Create(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := api.client.Delete(context.WithoutCancel(t.Context()), binding); err != nil {
				t.Error(err)
			}
		})
	}
	for name, test := range map[string]struct {
		reason            string
		former            bool
		prepare           func(*testing.T)
		scope             rights.Scope
		missing, unneeded string // a part of the lists; "" is an empty list
	}{
		"release": {reason: "nothing is missing and nothing too much", scope: everywhere},
		"image of the Deployment changed": {
			reason: "the message names the rights, and those that are left", former: true, scope: everywhere,
			missing:  "create serviceaccounts/token azureserviceoperator-default in namespace capz-system",
			unneeded: "containerservice.azure.com in all namespaces",
		},
		"Secrets by namespace": {reason: "as the book has it", scope: byNamespace, prepare: func(t *testing.T) {
			unbind(t, "capz-system-secrets-rolebinding")
			bind(t, "capz-system-secrets-role")
		}},
		"Secrets by namespace, bound everywhere": {reason: "an upgrade has bound the role again", scope: byNamespace,
			unneeded: "secrets in all namespaces"},
		"Secrets not bound": {
			reason: "the message names the namespace", scope: byNamespace, missing: "secrets in namespace tenant",
			prepare: func(t *testing.T) { unbind(t, "capz-system-secrets-rolebinding") },
		},
		"one namespace": {reason: "the release's roles are more than a manager of one namespace needs, and no finding",
			scope: rights.Scope{LeaseNamespace: "capz-system", Namespace: "tenant"}},
		"one namespace, bound there": {
			reason:  "resources without a namespace need a ClusterRoleBinding",
			scope:   rights.Scope{LeaseNamespace: "capz-system", Namespace: "tenant"},
			missing: "get, list, watch namespaces in all namespaces",
			prepare: func(t *testing.T) {
				unbind(t, "capz-system-secrets-rolebinding")
				unbind(t, "capz-system-manager-rolebinding")
				bind(t, "capz-system-secrets-role")
				bind(t, "capz-system-manager-role")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := releasedObjects
			if test.former {
				list = formerObjects
			}
			objects := list(t)
			installObjects(t, objects)
			t.Cleanup(func() { deleteAll(t, objects) })
			if test.prepare != nil {
				test.prepare(t)
			}
			requests := 0
			config := rest.CopyConfig(api.config)
			config.QPS = -1
			config.Impersonate = rest.ImpersonationConfig{UserName: manager, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) { requests++; return next.RoundTrip(r) })
			})
			reviews, err := authorizationclient.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			var report rights.Report
			is := func(list []string, part string) bool {
				return part == "" && len(list) == 0 || part != "" && strings.Contains(strings.Join(list, "; "), part)
			}
			// The authorizer follows roles and bindings by watches.
			err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
				requests = 0
				report, err = rights.CheckRights(ctx, reviews, test.scope)
				return err == nil && is(report.Missing, test.missing) && is(report.Unneeded, test.unneeded), err
			})
			if err != nil {
				t.Errorf("%s: missing %q, unneeded %q, want %q and %q: %v", test.reason, report.Missing, report.Unneeded, test.missing, test.unneeded,
					err)
			}
			if requests > 3 {
				t.Errorf("%d requests, want one for each namespace", requests)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLeftovers runs the steps of docs/book/release.md that remove roles, bindings and conversions of the established provider.
func TestLeftovers(t *testing.T) {
	createNamespace(t, "capz-system")
	former, released := formerObjects(t), releasedObjects(t)
	installObjects(t, former)
	upgradeObjects(t, former, released)
	t.Cleanup(func() { deleteAll(t, former, released) })
	conversion := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "capz-system",
				Name: "capz-webhook-service"}},
		}}
	plurals := []string{"azureclusters", "azureclusteridentities", "azureclustertemplates", "azuremachines", "azuremachinetemplates",
		"azuremachinepools", "azuremachinepoolmachines"}
	definition := func(plural string) *apiextensionsv1.CustomResourceDefinition {
		found := &apiextensionsv1.CustomResourceDefinition{}
		if err := api.client.Get(t.Context(), client.ObjectKey{Name: plural + ".infrastructure.cluster.x-k8s.io"}, found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, plural := range plurals {
		changed := definition(plural)
		before := changed.DeepCopy()
		changed.Spec.Conversion = conversion
		metav1.SetMetaDataLabel(&changed.ObjectMeta, "cluster.x-k8s.io/provider",
			"infrastructure-azure") // clusterctl labels all that it installs.
		if err := api.client.Patch(t.Context(), changed, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}

	config, err := clientcmd.RESTConfigFromKubeConfig(api.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := prepareupgrade.RunSteps(t.Context(), config, t.Output()); err != nil { // adopt prepare-upgrade
		t.Fatal(err)
	}
	steps := listCommands(t, "## Upgrade from the established provider")
	at := slices.IndexFunc(steps, func(command string) bool { return strings.HasPrefix(command, "kubectl delete ") })
	if at < 0 {
		t.Fatalf("no command of the upgrade deletes roles: %v", steps)
	}
	for _, command := range append([]string{steps[at]}, listCommands(t, "## What is left after the upgrade")...) {
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(kubeconfig, api.kubeconfig, 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), "bash", "-c", command)
		run.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}

	for _, object := range former {
		if collisions[nameOf(object)].fate == kept && readStored(t, object) != nil {
			t.Errorf("%s is left", nameOf(object))
		}
	}
	for _, object := range released {
		if readStored(t, object) == nil {
			t.Errorf("%s of the release is gone", nameOf(object))
		}
	}
	for _, plural := range plurals {
		if found := definition(plural).Spec.Conversion; found == nil || found.Strategy != apiextensionsv1.NoneConverter || found.Webhook != nil {
			t.Errorf("%s converts by %v", plural, found)
		}
	}
}

// listCommands returns those of the first block of a section of docs/book/release.md.
func listCommands(t *testing.T, section string) []string {
	t.Helper()
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "release.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n"+section+"\n")
	_, rest, _ = strings.Cut(rest, "\n```sh\n")
	block, _, ok := strings.Cut(rest, "\n```\n")
	if !ok {
		t.Fatalf("docs/book/release.md has no commands in %s", section)
	}
	return strings.Split(block, "\n")
}
