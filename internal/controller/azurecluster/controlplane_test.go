package azurecluster

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const controlPlaneGroup = "controlplane.cluster.x-k8s.io"

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func TestControlPlaneSize(t *testing.T) {
	type object = map[string]any
	v1beta2 := schema.GroupVersion{Group: controlPlaneGroup, Version: "v1beta2"}
	v1beta1 := schema.GroupVersion{Group: controlPlaneGroup, Version: "v1beta1"}
	controlPlane := func(version schema.GroupVersion, machineTemplate any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: object{"spec": object{"machineTemplate": machineTemplate}}}
		u.SetGroupVersionKind(version.WithKind("KubeadmControlPlane"))
		u.SetNamespace("ns")
		u.SetName("cp")
		return u
	}
	ref := func(group, kind, name string) object {
		return object{"spec": object{"infrastructureRef": object{"apiGroup": group, "kind": kind, "name": name}}}
	}
	big := ref(infrav1.GroupVersion.Group, "AzureMachineTemplate", "big")
	template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "big"}}
	template.Spec.Template.Spec.VMSize = "Standard_E8s_v5"
	elsewhere := template.DeepCopy()
	elsewhere.Namespace, elsewhere.Name = "other", "elsewhere"
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: controlPlaneGroup, Resource: "kubeadmcontrolplanes"}, "cp", nil)
	broken := errors.New("broken")
	tests := map[string]struct {
		reason       string
		installed    schema.GroupVersion
		controlPlane *unstructured.Unstructured
		noRef        bool
		// fails is what reading the control plane ends with.
		fails   error
		want    string
		wantErr error
	}{
		"v1beta2": {reason: "the contract of today", installed: v1beta2, controlPlane: controlPlane(v1beta2, big),
			want: "Standard_E8s_v5"},
		"v1beta1": {reason: "the contract before, whose references have a version", installed: v1beta1,
			controlPlane: controlPlane(v1beta1,
				object{"infrastructureRef": object{"apiVersion": infrav1.GroupVersion.String(), "kind": "AzureMachineTemplate", "name": "big",
					"namespace": "ns"}}), want: "Standard_E8s_v5"},
		"no reference": {reason: "the Cluster has no control plane of Cluster API's", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, big), noRef: true},
		"kind not installed": {reason: "the control-plane provider need not be installed"},
		"not created":        {reason: "the control plane may be created after the Cluster", installed: v1beta2},
		"not allowed": {reason: "roles cover KubeadmControlPlane only", installed: v1beta2, controlPlane: controlPlane(v1beta2, big),
			fails: forbidden},
		"broken": {reason: "a failed read does not prove the absence", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, big), fails: broken, wantErr: broken},
		"template not there": {reason: "it may come after the control plane", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, ref(infrav1.GroupVersion.Group, "AzureMachineTemplate", "none"))},
		"template elsewhere": {reason: "references do not cross namespaces", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, ref(infrav1.GroupVersion.Group, "AzureMachineTemplate", "elsewhere"))},
		"another kind": {reason: "its machines are not Azure's", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, ref(infrav1.GroupVersion.Group, "OtherTemplate", "big"))},
		"another group": {reason: "a kind is one of a group", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, ref("example.com", "AzureMachineTemplate", "big"))},
		"no machine template": {reason: "a control plane need not have machines", installed: v1beta2, controlPlane: controlPlane(v1beta2, nil)},
		"other shape": {reason: "another contract must not crash the manager", installed: v1beta2,
			controlPlane: controlPlane(v1beta2, object{"spec": "text"})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{test.installed})
			mapper.Add(infrav1.GroupVersion.WithKind("AzureMachineTemplate"), meta.RESTScopeNamespace)
			objects := []client.Object{template, elsewhere}
			if !test.installed.Empty() {
				mapper.Add(test.installed.WithKind("KubeadmControlPlane"), meta.RESTScopeNamespace)
			}
			if test.controlPlane != nil {
				objects = append(objects, test.controlPlane)
			}
			reads := 0
			k := &Kind{Client: fake.NewClientBuilder().WithScheme(testScheme(t)).WithRESTMapper(mapper).WithObjects(objects...).
				WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object,
					options ...client.GetOption) error {
					if _, ok := obj.(*unstructured.Unstructured); ok {
						reads++
						if test.fails != nil {
							return test.fails
						}
					}
					return c.Get(ctx, key, obj, options...)
				}}).Build()}
			cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1"}}
			if !test.noRef {
				cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: controlPlaneGroup, Kind: "KubeadmControlPlane",
					Name: "cp"}
			}
			got, err := k.findControlPlaneSize(context.Background(), cluster)
			if !errors.Is(err, test.wantErr) {
				t.Fatalf("%s: got error %v, want %v", test.reason, err, test.wantErr)
			}
			if got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
			if reads > 1 {
				t.Errorf("the control plane was read %d times", reads)
			}
		})
	}
}

func TestInputsHaveTheControlPlaneSize(t *testing.T) {
	of := func(size string) []any {
		return (&input{cluster: &clusterv1.Cluster{}, azureCluster: &infrav1.AzureCluster{}, controlPlaneSize: size}).FingerprintInputs()
	}
	if cmp.Equal(of("Standard_D2s_v3"), of("Standard_E8s_v5")) {
		t.Error("a stable cluster is reconciled again when its control plane changes to another size")
	}
	if diff := cmp.Diff(of("Standard_D2s_v3"), of("Standard_D2s_v3")); diff != "" {
		t.Error("the same input has the same fingerprint", diff)
	}
}
