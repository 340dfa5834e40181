package tenancy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// above gives an object of each kind a text that leads to another path in Azure, as if it was stored before webhooks refused it.
var above = map[string]func(client.Object){
	"AzureCluster":     func(o client.Object) { o.(*infrav1.AzureCluster).Spec.NetworkSpec.Vnet.ResourceGroup = ".." },
	"AzureMachine":     func(o client.Object) { o.(*infrav1.AzureMachine).Spec.FailureDomain = new("..") },
	"AzureMachinePool": func(o client.Object) { o.(*infrav1.AzureMachinePool).Spec.Location = ".." },
	"AzureManagedControlPlane": func(o client.Object) {
		o.(*infrav1.AzureManagedControlPlane).Spec.VirtualNetwork.ResourceGroup = ".."
	},
	"AzureManagedMachinePool": func(o client.Object) { o.(*infrav1.AzureManagedMachinePool).Spec.Name = new("..") },
	"AzureASOManagedCluster":  func(o client.Object) { o.(*infrav1.AzureASOManagedCluster).Spec.AzureEnvironment = ".." },
	"AzureASOManagedControlPlane": func(o client.Object) {
		o.(*infrav1.AzureASOManagedControlPlane).Spec.Version = ".."
	},
	"AzureASOManagedMachinePool": func(o client.Object) {
		o.(*infrav1.AzureASOManagedMachinePool).Spec.ProviderIDList = []string{"azure:///subscriptions/s/resourceGroups/g/../h"}
	},
}

// TestEverySpecPasses lets an object of every kind lead to another path in Azure.
func TestEverySpecPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.startManager()
		if diff := cmp.Diff(slices.Sorted(slices.Values(w.kinds)), slices.Sorted(maps.Keys(above))); diff != "" {
			t.Fatalf("kinds (-want), and those that are tried (+got):\n%s", diff)
		}
		w.createEveryKind()
		mark := w.Azure.MarkRequests()
		for _, kind := range []string{"AzureMachine", "AzureMachinePool", "AzureManagedMachinePool", "AzureASOManagedMachinePool",
			"AzureASOManagedControlPlane", "AzureManagedControlPlane", "AzureCluster"} {
			of := emptyObjects()[kind]
			of.object.SetName(of.name)
			harness.ChangeObject[client.Object](w.Stage, of.object, above[kind])
			w.waitStatusContains(kind, "leads to another path")
		}
		for _, request := range w.Azure.RequestsSince(mark) {
			if strings.Contains(request, "..") {
				t.Errorf("it was sent: %s", request)
			}
		}
	})
}

// destinations has an object of each kind that writes answers of Azure into the namespace. It names a Secret or
// ConfigMap of others as the destination.
var destinations = map[string]struct {
	list, value string
	do          func(w *world, operatorSpec string)
}{
	"AzureManagedControlPlane": {"secrets", "adminCredentials", func(w *world, operatorSpec string) {
		w.createAKSCluster(func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.ASOManagedClusterPatches = []string{`{"spec": {"operatorSpec": ` + operatorSpec + `}}`}
		}, nil)
	}},
	"AzureASOManagedControlPlane": {"secrets", "adminCredentials", func(w *world, operatorSpec string) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			c.ControlPlane.Spec.Resources[0].Raw = []byte(strings.Replace(string(c.ControlPlane.Spec.Resources[0].Raw), `"dnsPrefix"`,
				`"operatorSpec":`+operatorSpec+`,"dnsPrefix"`, 1))
		})
	}},
	"AzureASOManagedCluster": {"configMaps", "principalId", func(w *world, operatorSpec string) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			c.Infrastructure.Spec.Resources = withIdentity(w, c.Infrastructure.Spec.Resources, operatorSpec)
		})
	}},
	"AzureASOManagedMachinePool": {"configMaps", "principalId", func(w *world, operatorSpec string) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			c.Pools[0].Spec.Resources = withIdentity(w, c.Pools[0].Spec.Resources, operatorSpec)
		})
	}},
}

func withIdentity(w *world, resources []runtime.RawExtension, operatorSpec string) []runtime.RawExtension {
	return append(resources,
		w.ParseManifest("apiVersion: managedidentity.azure.com/v1api20230131\nkind: UserAssignedIdentity\nmetadata:\n  name: robot\nspec:\n  "+
			"location: eastus\n  owner: {name: d1}\n  operatorSpec: "+operatorSpec))
}

// TestEveryDestinationPasses asks every kind that writes into the namespace to overwrite objects of others, also with the label of the
// Cluster, which Cluster API has users set. They stay as they are.
func TestEveryDestinationPasses(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(destinations))
	if diff := cmp.Diff(kindsOf(t, "published.Publisher{", kinds), kinds); diff != "" {
		t.Fatalf("kinds that write into the namespace (-want), and those that are tried (+got):\n%s", diff)
	}
	tries := map[string]string{}
	for _, kind := range kinds {
		tries[kind], tries[kind+", labelled"] = kind, kind
	}
	for name, kind := range tries {
		try := destinations[kind]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: "of-others", Labels: map[string]string{"app": "database"}}
				if name != kind {
					meta.Labels[clusterv1.ClusterNameLabel] = "d1"
					if kind == "AzureManagedControlPlane" {
						meta.Labels[clusterv1.ClusterNameLabel] = "k1"
					}
				}
				w.CreateObject(&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"key": []byte("theirs")}})
				w.CreateObject(&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": "theirs"}})
				w.startManager()
				try.do(w, fmt.Sprintf(`{"%s": {"%s": {"name": "of-others", "key": "key"}}}`, try.list, try.value))
				w.waitStatusContains(kind, "of-others was created by others")
				secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
				w.ReadObject(secret, meta.Name)
				w.ReadObject(configMap, meta.Name)
				if string(secret.Data["key"]) != "theirs" || len(secret.Data) != 1 || configMap.Data["key"] != "theirs" || len(configMap.Data) != 1 {
					t.Errorf("objects of others were overwritten: Secret %d keys, ConfigMap %v", len(secret.Data), configMap.Data)
				}
			})
		})
	}
}

// TestNamesOfOthers creates AKS clusters in a namespace whose Secrets and ConfigMaps have the names in which the provider publishes. They
// stay as they are, and KubeconfigReady names them.
func TestNamesOfOthers(t *testing.T) {
	for kind, test := range map[string]struct {
		cluster string
		create  func(w *world)
		names   []string
	}{
		"AzureManagedControlPlane": {"k1", func(w *world) {
			w.createAKSCluster(func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.AADProfile = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: []string{administrators}}
				c.Spec.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)}
			}, nil)
		}, []string{"-kubeconfig", "-kubeconfig-user", "-ca", "-aso-oidc-issuer-profile"}},
		"AzureASOManagedControlPlane": {"d1", func(w *world) {
			w.createASOCluster(func(c *harness.ASOCluster) {
				raw := &c.ControlPlane.Spec.Resources[0].Raw
				*raw = []byte(strings.Replace(string(*raw), `"dnsPrefix"`, `"aadProfile":{"managed":true,"adminGroupObjectIDs":["`+administrators+`"]},"dnsPrefix"`, 1))
			})
		}, []string{"-kubeconfig", "-kubeconfig-user", "-ca"}},
	} {
		for _, suffix := range test.names {
			t.Run(kind+suffix, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, nil)
					meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: test.cluster + suffix}
					before := &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": []byte("c"), "tls.key": []byte("k")}}
					w.CreateObject(before)
					settings := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": "b"}}
					w.CreateObject(settings)
					w.startManager()
					test.create(w)
					w.waitStatusContains(kind, `"type":"KubeconfigReady"`, "InvalidConfiguration", test.cluster+suffix+" was created by others",
						"or choose another name for the Cluster")
					after, settingsAfter := &corev1.Secret{}, &corev1.ConfigMap{}
					w.ReadObject(after, meta.Name)
					w.ReadObject(settingsAfter, meta.Name)
					if before.ResourceVersion != after.ResourceVersion || settings.ResourceVersion != settingsAfter.ResourceVersion {
						t.Errorf("%s was changed: %v, %v", meta.Name, after.Data, settingsAfter.Data)
					}
				})
			})
		}
	}
}

// TestReservedSecret lets a patch name a Secret of the Cluster that the provider writes itself.
func TestReservedSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.startManager()
		destinations["AzureManagedControlPlane"].do(w, `{"secrets": {"adminCredentials": {"name": "k1-ca", "key": "tls.crt"}}}`)
		w.waitStatusContains("AzureManagedControlPlane", "Secret k1-ca of Cluster k1 is reserved: the provider writes it")
	})
}

// TestOperatorsSecret checks that the Secret that the Azure Service Operator created for the AKS cluster, before this provider managed it,
// is kept up to date as before.
func TestOperatorsSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "exported",
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "containerservice.azure.com/v1api20250801", Kind: "ManagedCluster", Name: "k1",
					UID:        "00000000-0000-0000-0000-00000000000d",
					Controller: new(true)},
			}}, Data: map[string][]byte{"kubeconfig": []byte("old")}})
		w.startManager()
		destinations["AzureManagedControlPlane"].do(w, `{"secrets": {"adminCredentials": {"name": "exported", "key": "kubeconfig"}}}`)
		w.waitReady("AzureManagedControlPlane")
		secret := &corev1.Secret{}
		if w.ReadObject(secret, "exported"); string(secret.Data["kubeconfig"]) == "old" {
			t.Error("the kubeconfig was not written")
		}
	})
}

// TestOperatorsExports exports to objects that the Azure Service Operator created for resource manifests, before this provider managed
// them. It expects that those of the same manifest are kept up to date as before, and that those of another one belong to others.
func TestOperatorsExports(t *testing.T) {
	owner := func(apiVersion, kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "00000000-0000-0000-0000-00000000000d", Controller: new(true)}}
	}
	const identities = "managedidentity.azure.com/v1api20230131"
	for name, test := range map[string]struct {
		kind    string
		owners  []metav1.OwnerReference
		refused bool
	}{
		"of the cluster":                {"AzureASOManagedControlPlane", owner("containerservice.azure.com/v1api20231001", "ManagedCluster", "manifest"), false},
		"of another cluster":            {"AzureASOManagedControlPlane", owner("containerservice.azure.com/v1api20231001", "ManagedCluster", "other"), true},
		"of the identity":               {"AzureASOManagedCluster", owner(identities, "UserAssignedIdentity", "robot"), false},
		"of the identity of a pool":     {"AzureASOManagedMachinePool", owner(identities, "UserAssignedIdentity", "robot"), false},
		"of another identity":           {"AzureASOManagedCluster", owner(identities, "UserAssignedIdentity", "other"), true},
		"of another kind with the name": {"AzureASOManagedCluster", owner("storage.azure.com/v1api20230101", "StorageAccount", "robot"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: "exported", OwnerReferences: test.owners}
				w.CreateObject(&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"key": []byte("old")}})
				w.CreateObject(&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": "old"}})
				w.startManager()
				try := destinations[test.kind]
				if test.kind == "AzureASOManagedControlPlane" {
					w.createASOCluster(func(c *harness.ASOCluster) {
						for _, change := range [][2]string{
							{`"name":"d1"},"spec"`, `"name":"manifest"},"spec"`},
							{`"dnsPrefix"`, `"azureName":"d1","operatorSpec":{"secrets":{"adminCredentials":{"name":"exported","key":"key"}}},"dnsPrefix"`},
						} {
							raw := string(c.ControlPlane.Spec.Resources[0].Raw)
							if !strings.Contains(raw, change[0]) {
								t.Fatalf("the manifest has no %s: %s", change[0], raw)
							}
							c.ControlPlane.Spec.Resources[0].Raw = []byte(strings.Replace(raw, change[0], change[1], 1))
						}
						c.Pools[0].Spec.Resources[0].Raw = []byte(strings.Replace(string(c.Pools[0].Spec.Resources[0].Raw), `"owner":{"name":"d1"}`, `"owner":{"name":"manifest"}`, 1))
					})
				} else {
					try.do(w, fmt.Sprintf(`{"%s": {"%s": {"name": "exported", "key": "key"}}}`, try.list, try.value))
				}
				if test.refused {
					w.waitStatusContains(test.kind, "exported was created by others")
				} else {
					w.waitReady(test.kind)
				}
				secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
				w.ReadObject(secret, meta.Name)
				w.ReadObject(configMap, meta.Name)
				written := string(secret.Data["key"])
				if try.list == "configMaps" {
					written = configMap.Data["key"]
				}
				if (written == "old") != test.refused {
					t.Errorf("the value was written: %t, want %t", written != "old", !test.refused)
				}
			})
		})
	}
}
