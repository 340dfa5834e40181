package azurejson

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
)

// TestWarnWithoutIdentity tells of control planes on which cloud-provider-azure cannot log in.
func TestWarnWithoutIdentity(t *testing.T) {
	const group = "controlplane.cluster.x-k8s.io"
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: "KubeadmControlPlane", Name: "cp"}
	ref := map[string]any{"apiGroup": infrav1.GroupVersion.Group, "kind": "AzureMachineTemplate", "name": "cp"}
	controlPlane := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": ref}}}}}
	version := schema.GroupVersion{Group: group, Version: "v1beta2"}
	controlPlane.SetGroupVersionKind(version.WithKind("KubeadmControlPlane"))
	controlPlane.SetNamespace("ns")
	controlPlane.SetName("cp")
	template := func(name string) *infrav1.AzureMachineTemplate {
		return &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	}
	used, worker := template("cp"), template("md")
	used.UID, worker.UID = "1", "2"
	machine := func(labels map[string]string) *infrav1.AzureMachine {
		return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Labels: labels}}
	}
	for name, tc := range map[string]struct {
		reason string
		owner  client.Object
		has    infrav1.VMIdentity
		secret string
		want   string
	}{
		"control plane": {reason: "cloud-provider-azure runs there", owner: used, has: infrav1.VMIdentityNone,
			want: "spec.template.spec.identity"},
		"no identity":          {reason: "None is the default", owner: used, want: "spec.template.spec.identity"},
		"with an identity":     {reason: "it logs in with that", owner: used, has: infrav1.VMIdentityUserAssigned},
		"with a client secret": {reason: "azure.json has it", owner: used, secret: "s"},
		"workers":              {reason: "nothing logs in there", owner: worker},
		"machine of control plane": {reason: "machines may have no template",
			owner: machine(map[string]string{clusterv1.MachineControlPlaneLabel: ""}), want: "spec.identity"},
		"machine of workers": {reason: "nothing logs in there", owner: machine(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{version})
			mapper.Add(infrav1.GroupVersion.WithKind("AzureMachineTemplate"), meta.RESTScopeNamespace)
			mapper.Add(version.WithKind("KubeadmControlPlane"), meta.RESTScopeNamespace)
			recorder := events.NewFakeRecorder(1)
			r := &Reconciler{eventLog: eventlog.NewRecorder(recorder),
				Client: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(used, worker, controlPlane).Build()}
			// The second call has no new warning, and the recorder has no room for one.
			for range 2 {
				err := r.warnWithoutIdentity(t.Context(), cluster, tc.owner, infrav1.ManagedIdentities{Identity: tc.has},
					identity.CloudConfigSecret{ClientSecret: tc.secret})
				if err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			select {
			case got = <-recorder.Events:
			default:
			}
			if (got != "") != (tc.want != "") || !strings.Contains(got, tc.want) || got != "" && !strings.Contains(got, "VMIdentityNone") {
				t.Errorf("%s: got %q", tc.reason, got)
			}
		})
	}
}
