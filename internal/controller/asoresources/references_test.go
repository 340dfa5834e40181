package asoresources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

func TestReferencingObjectsAreWoken(t *testing.T) {
	raw := func(document string) []runtime.RawExtension { return []runtime.RawExtension{{Raw: []byte(document)}} }
	ref := func(kind string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: "c"}
	}
	meta := storetest.NewMeta("p")
	meta.Labels = map[string]string{clusterv1.ClusterNameLabel: "c"}
	owned := storetest.NewMeta("c")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "u"}}
	infrastructure := &infrav1.AzureASOManagedCluster{ObjectMeta: owned}
	infrastructure.Spec.Resources = raw(`{"apiVersion":"managedidentity.azure.com/v1api20230131","kind":"FederatedIdentityCredential","metadata":{"name":"f"},
		"spec":{"owner":{"name":"i"},"audiences":["a"],"subject":"s","issuerFromConfig":{"name":"issuer","key":"k"}}}`)
	controlPlane := &infrav1.AzureASOManagedControlPlane{ObjectMeta: owned}
	controlPlane.Spec.Resources = raw(`{"apiVersion":"containerservice.azure.com/v1api20240901","kind":"ManagedCluster",
		"metadata":{"name":"c","annotations":{"serviceoperator.azure.com/credential-from":"credential"}},
		"spec":{"location":"l","owner":{"name":"g"},"windowsProfile":{"adminUsername":"u","adminPassword":{"name":"password","key":"k"}}}}`)
	pool := &infrav1.AzureASOManagedMachinePool{ObjectMeta: meta}
	pool.Spec.Resources = raw(`{"apiVersion":"containerservice.azure.com/v1api20240901","kind":"ManagedClustersAgentPool",
		"metadata":{"name":"p","annotations":{"serviceoperator.azure.com/credential-from":"pools"}},"spec":{"owner":{"name":"c"}}}`)
	c := storetest.NewClient(t, infrastructure, controlPlane, pool,
		&clusterv1.Cluster{ObjectMeta: storetest.NewMeta("c"), Spec: clusterv1.ClusterSpec{
			InfrastructureRef: ref(asoresources.ClusterKind), ControlPlaneRef: ref(asoresources.ControlPlaneKind),
		}})
	all := []string{"AzureASOManagedCluster ns/c", "AzureASOManagedControlPlane ns/c", "AzureASOManagedMachinePool ns/p"}
	for name, tc := range map[string]struct {
		reason string
		of     client.Object
		named  string
		want   []string
	}{
		"credential":       {"objects without an annotation use the cluster's credential", &corev1.Secret{}, "ns/credential", all},
		"pool's":           {"the credential of a pool also serves objects without an annotation", &corev1.Secret{}, "ns/pools", all},
		"default":          {"a Secret without a label is read for all", &corev1.Secret{}, "ns/aso-credential", all},
		"value":            {"a document takes a value from it", &corev1.Secret{}, "ns/password", all},
		"key":              {"the name of a key is not that of a Secret", &corev1.Secret{}, "ns/k", nil},
		"elsewhere":        {"documents read in their namespace only", &corev1.Secret{}, "other/password", nil},
		"ConfigMap":        {"a document takes a value from it", &corev1.ConfigMap{}, "ns/issuer", all},
		"as Secret":        {"it is no Secret", &corev1.Secret{}, "ns/issuer", nil},
		"as ConfigMap":     {"it is no ConfigMap", &corev1.ConfigMap{}, "ns/password", nil},
		"unreferenced":     {"no object refers to most ConfigMaps", &corev1.ConfigMap{}, "ns/kube-root-ca.crt", nil},
		"default's name":   {"no ConfigMap is a credential", &corev1.ConfigMap{}, "ns/aso-credential", nil},
		"name of document": {"it is mentioned, and not as that", &corev1.Secret{}, "ns/c", nil},
	} {
		t.Run(name, func(t *testing.T) {
			namespace, called, _ := strings.Cut(tc.named, "/")
			tc.of.SetNamespace(namespace)
			tc.of.SetName(called)
			var got []string
			for _, kind := range []string{asoresources.ClusterKind, asoresources.ControlPlaneKind, asoresources.MachinePoolKind} {
				find := asoresources.MapSecret(c, kind)
				if _, ok := tc.of.(*corev1.ConfigMap); ok {
					find = asoresources.MapConfigMap(c, kind)
				}
				for _, request := range find(t.Context(), tc.of) {
					got = append(got, kind+" "+request.String())
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
