package established_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const manager = "system:serviceaccount:capz-system:capz-manager"

// The fate of an object of the established provider.
const (
	gone     = "gone"     // clusterctl deletes it, and the release has none of this name
	replaced = "replaced" // the release has one of this name; nothing of the old one is in it
	kept     = "kept"     // it stays, nothing uses it, and the book names it
)

// collisions are all objects of the established provider.
var collisions = map[string]struct{ fate, reason string }{
	"ServiceAccount capz-manager": {replaced, "federated credentials name it"},
	"ClusterRole capz-manager-role": {replaced,
		"it is merged: the release takes the rules and the aggregation away"},
	"ClusterRoleBinding capz-manager-rolebinding": {replaced,
		"it is merged: the release binds no user"},
	"ClusterRole capz-base-manager-role": {kept, "nothing selects its label any more"},
	"ClusterRole capz-kubeadm-bootstrap-managed-control-plane-reader-role": {kept,
		"Cluster API's kubeadm provider may read control planes"},
	"ClusterRoleBinding capz-kubeadm-bootstrap-managed-control-plane-reader-rolebinding": {kept, "it does not bind the manager"},
	"ClusterRole capz-system-capz-manager-role":                                          {gone, "its name begins with the namespace"},
	"ClusterRoleBinding capz-system-capz-manager-rolebinding":                            {gone, "its name begins with the namespace"},
	"Role capz-leader-election-role":                                                     {gone, "it has the labels"},
	"RoleBinding capz-leader-election-rolebinding":                                       {gone, "it has the labels"},
	"Secret capz-manager-bootstrap-credentials": {replaced,
		"the manager reads the subscription there"},
	"Service capz-webhook-service":                                         {replaced, "the certificate names it"},
	"Deployment capz-controller-manager":                                   {replaced, "its pods must not be the old ones"},
	"MutatingWebhookConfiguration capz-mutating-webhook-configuration":     {replaced, "the old paths are not served"},
	"ValidatingWebhookConfiguration capz-validating-webhook-configuration": {replaced, "the old paths are not served"},
	"ServiceAccount azureserviceoperator-default":                          {replaced, "federated credentials name it"},
	"ClusterRole azureserviceoperator-manager-role": {kept,
		"it binds the operator's ServiceAccount, as which the manager signs in to Azure only"},
	"ClusterRoleBinding azureserviceoperator-manager-rolebinding":                          {kept, "no pod runs as this ServiceAccount"},
	"Service azureserviceoperator-webhook-service":                                         {gone, "it has the labels"},
	"Secret aso-controller-settings":                                                       {gone, "it has the labels"},
	"Deployment azureserviceoperator-controller-manager":                                   {gone, "it has the labels"},
	"MutatingWebhookConfiguration azureserviceoperator-mutating-webhook-configuration":     {gone, "webhooks go with the provider"},
	"ValidatingWebhookConfiguration azureserviceoperator-validating-webhook-configuration": {gone, "webhooks go with the provider"},
}

// TestUpgrade upgrades an installation of the established provider, a release of this one, and nothing, and compares with a new installation
// each object and the rights of the manager.
func TestUpgrade(t *testing.T) {
	createNamespace(t, "capz-system")
	createNamespace(t, "tenant")
	former, released := formerObjects(t), releasedObjects(t)
	names := map[string]bool{}
	for _, object := range former {
		names[nameOf(object)] = true
		if collisions[nameOf(object)].reason == "" {
			t.Errorf("%s is not in the table", nameOf(object))
		}
	}
	for name := range collisions {
		if !names[name] {
			t.Errorf("%s is in the table and not in the installation", name)
		}
	}

	installObjects(t, released)
	want := rightsOf(t, manager)
	fresh := map[string]any{}
	for _, object := range released {
		fresh[nameOf(object)] = contentOf(readStored(t, object))
	}
	for _, needed := range []string{"create serviceaccounts/token in capz-system", "list secrets in tenant"} {
		if !slices.ContainsFunc(want, func(right string) bool { return strings.HasPrefix(right, needed) }) {
			t.Errorf("the manager has no right to %s: %v", needed, want)
		}
	}
	deleteAll(t, released)

	for name, installed := range map[string][]*unstructured.Unstructured{"established provider": former, "this provider": released} {
		t.Run(name, func(t *testing.T) {
			installObjects(t, installed)
			if name == "established provider" {
				waitForRights(t, manager, func(got []string) bool { return slices.Contains(got, "patch secrets in tenant") })
			}
			upgradeObjects(t, installed, released)
			t.Cleanup(func() { deleteAll(t, installed, released) })
			waitForRights(t, manager, func(got []string) bool { return cmp.Equal(got, want) })
			for _, object := range released {
				if diff := cmp.Diff(fresh[nameOf(object)], contentOf(readStored(t, object))); diff != "" {
					t.Errorf("%s differs from that of a new installation (-new +upgraded):\n%s", nameOf(object), diff)
				}
			}
			for _, object := range former {
				found := readStored(t, object)
				fate, isReleased := collisions[nameOf(object)].fate, fresh[nameOf(object)] != nil
				switch {
				case (fate == replaced) != isReleased:
					t.Errorf("%s: the release has it: %t, want %s: %s", nameOf(object), isReleased, fate, collisions[nameOf(object)].reason)
				case fate == gone && found != nil:
					t.Errorf("%s is left", nameOf(object))
				}
			}
			expectUnbound(t, released)
		})
	}
}

// expectUnbound expects that only bindings of the release name the manager's ServiceAccount.
func expectUnbound(t *testing.T, released []*unstructured.Unstructured) {
	t.Helper()
	var bound []string
	note := func(kind, name string, subjects []rbacv1.Subject) {
		for _, subject := range subjects {
			if subject.Name == "capz-manager" || subject.Name == manager || subject.Kind == rbacv1.GroupKind &&
				subject.Name == "system:serviceaccounts:capz-system" {
				bound = append(bound, kind+" "+name)
			}
		}
	}
	cluster, local := &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	for _, list := range []client.ObjectList{cluster, local} {
		if err := api.client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range cluster.Items {
		note("ClusterRoleBinding", b.Name, b.Subjects)
	}
	for _, b := range local.Items {
		note("RoleBinding", b.Name, b.Subjects)
	}
	for _, name := range bound {
		if !strings.Contains(name, " capz-system-") ||
			!slices.ContainsFunc(released, func(o *unstructured.Unstructured) bool { return nameOf(o) == name }) {
			t.Errorf("%s binds the manager's ServiceAccount", name)
		}
	}
	if len(bound) < 3 {
		t.Errorf("only %v bind the manager", bound)
	}
}

// rightsOf returns the rights of a user in the manager's namespace and in that of a tenant, without those that every user has.
func rightsOf(t *testing.T, user string) []string {
	t.Helper()
	var last []string
	waitForRights(t, user, func(got []string) bool {
		// The authorizer follows roles and bindings by watches.
		same := len(got) > 0 && cmp.Equal(got, last)
		last = got
		return same
	})
	return last
}

// waitForRights waits until the rights of a user are as wanted.
func waitForRights(t *testing.T, user string, wanted func([]string) bool) {
	t.Helper()
	var last []string
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
		last = nil
		nobody, err := reviewAccess(ctx, "system:serviceaccount:capz-system:nobody")
		if err != nil {
			return false, err
		}
		all, err := reviewAccess(ctx, user)
		for _, right := range all {
			if !slices.Contains(nobody, right) {
				last = append(last, right)
			}
		}
		return wanted(last), err
	})
	if err != nil {
		t.Errorf("%s has the rights %v: %v", user, last, err)
	}
}

// reviewAccess asks the API server for the rights of a user.
func reviewAccess(ctx context.Context, user string) ([]string, error) {
	config := rest.CopyConfig(api.config)
	config.QPS = -1
	config.Impersonate = rest.ImpersonationConfig{UserName: user,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:capz-system", "system:authenticated"}}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, namespace := range []string{"capz-system", "tenant"} {
		review, err := clients.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		for _, rule := range review.Status.ResourceRules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						right := verb + " " + resource
						if group != "" {
							right += "." + group
						}
						right += " in " + namespace
						if len(rule.ResourceNames) > 0 {
							right += fmt.Sprintf(" named %v", rule.ResourceNames)
						}
						out = append(out, right)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// readStored returns an object as it is in the API server, nil if it does not exist.
func readStored(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(object.GroupVersionKind())
	err := api.client.Get(t.Context(), client.ObjectKeyFromObject(object), found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// contentOf returns the fields of an object that users set: labels, annotations, and all but metadata and status. The API server sets
// the address of a Service.
func contentOf(object *unstructured.Unstructured) map[string]any {
	if object == nil {
		return nil
	}
	out := runtime.DeepCopyJSON(object.Object)
	out["metadata"] = map[string]any{"labels": object.GetLabels(), "annotations": object.GetAnnotations()}
	delete(out, "status")
	if spec, ok := out["spec"].(map[string]any); ok {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	return out
}

func createNamespace(t *testing.T, name string) {
	t.Helper()
	err := api.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
