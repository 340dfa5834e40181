package tenancy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	theirSubnet    = "resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs"
	networkVersion = "2024-05-01"
)

// documents is a tenant with an AKS cluster of documents, another one with another, and a network that belongs to neither.
type documents struct {
	*world
	tenant *harness.Stage
	// victim is another tenant's Cluster, and the name of its group and AKS cluster in Azure.
	victim string
	*harness.ASOCluster
}

// resourceID returns the ID of something in the subscription of all.
func (s *documents) resourceID(path string) string {
	return "/subscriptions/" + s.Azure.SubscriptionID + "/" + path
}

// borrowIdentity has the cluster ask Azure as the operator's identity, which lets the namespace use it.
func (s *documents) borrowIdentity() {
	shared := s.NewIdentity()
	shared.Name = s.tenant.Namespace
	shared.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{s.tenant.Namespace}}
	s.CreateObject(shared)
	s.Infrastructure.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Namespace: s.Namespace, Name: shared.Name}
	s.Infrastructure.Spec.SubscriptionID = s.Azure.SubscriptionID
	for _, of := range []*infrav1.AzureASOManagedResources{&s.Infrastructure.Spec.AzureASOManagedResources,
		&s.ControlPlane.Spec.AzureASOManagedResources} {
		for i := range of.Resources {
			of.Resources[i].Raw = []byte(strings.Replace(string(of.Resources[i].Raw),
				`"serviceoperator.azure.com/credential-from":"`+harness.OperatorSecret+`"`, `"a":"b"`, 1))
		}
	}
}

// skipAll gives every resource manifest of an object the policy skip.
func skipAll(resources []runtime.RawExtension) {
	for i := range resources {
		resources[i].Raw = []byte(strings.Replace(string(resources[i].Raw), `"annotations":{`,
			`"annotations":{"serviceoperator.azure.com/reconcile-policy":"skip",`, 1))
	}
}

// nameForeign replaces the name from by the name to in documents.
func nameForeign(resources []runtime.RawExtension, from, to string) {
	for i := range resources {
		resources[i].Raw = []byte(strings.ReplaceAll(string(resources[i].Raw), `"name":"`+from+`"`, `"name":"`+to+`"`))
	}
}

func (s *documents) inInfrastructure(texts ...string) {
	for _, text := range texts {
		s.Infrastructure.Spec.Resources = append(s.Infrastructure.Spec.Resources, s.tenant.ParseManifest(text))
	}
}

func (s *documents) inControlPlane(texts ...string) {
	for _, text := range texts {
		s.ControlPlane.Spec.Resources = append(s.ControlPlane.Spec.Resources, s.tenant.ParseManifest(text))
	}
}

func roleAt(owner string) string {
	return `
apiVersion: authorization.azure.com/v1api20220401
kind: RoleAssignment
metadata:
  name: 00000000-0000-0000-0000-00000000000a
spec:
  owner: ` + owner + `
  principalId: 00000000-0000-0000-0000-00000000000b
  roleDefinitionReference: {armId: /providers/Microsoft.Authorization/roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635}
`
}

// manifestTries are the tries that a reconciliation refuses: TestManifestsAtApply has those that the webhook refuses.
var manifestTries = map[string]struct {
	what string
	// name returns the name of the tenant's Cluster, "" for a name of its own.
	name func(victim string) string
	do   func(s *documents)
	// infrastructure is the text that the AzureASOManagedCluster reports, controlPlane that of the AzureASOManagedControlPlane; "" for
	// none.
	infrastructure, controlPlane string
}{
	"credential": {
		what:           "use the credential of another namespace by its usual name",
		do:             func(s *documents) { withoutCredential(s) },
		infrastructure: "/aso-credential with the credential for Azure",
	},
	"owner": {
		what: "make something in another subscription that the credential reaches",
		do: func(s *documents) {
			s.inControlPlane(roleAt(`{armId: "/subscriptions/00000000-0000-0000-0000-00000000000f/resourceGroups/theirs"}`))
		},
		controlPlane: "of the credential. Manifests cannot create resources in another subscription",
	},
	"role": {
		what: "get a role above the subscription",
		do: func(s *documents) {
			s.inControlPlane(roleAt(`{armId: "/providers/Microsoft.Management/managementGroups/all"}`))
		},
		controlPlane: "of the credential. Manifests cannot create resources in another subscription",
	},
	"role by a borrowed identity": {
		what: "get a role on the subscription of the operator's identity",
		do: func(s *documents) {
			s.inControlPlane(roleAt(`{armId: "` + s.resourceID("")[:len(s.resourceID(""))-1] + `"}`))
			s.borrowIdentity()
		},
		controlPlane: "is not the resource of a manifest of the Cluster",
	},
	"ID in other letters": {
		what: "be in another's group by an ID in capitals with a slash at its end",
		do: func(s *documents) {
			s.inControlPlane(roleAt(`{armId: "` + strings.Replace(s.resourceID("RESOURCEGROUPS/"+strings.ToUpper(s.victim)+"/"), "/SUBSCRIPTIONS",
				"/subscriptions", 1) + `"}`))
			s.borrowIdentity()
		},
		controlPlane: "is not the resource of a manifest of the Cluster",
	},
	"group": {
		what: "be in the group of another tenant with the identity that both borrow",
		do: func(s *documents) {
			nameForeign(s.Infrastructure.Spec.Resources, s.ControlPlane.Name, s.victim)
			nameForeign(s.ControlPlane.Spec.Resources[:1], s.ControlPlane.Name, s.victim)
			s.borrowIdentity()
		},
		infrastructure: "carries the tag",
		controlPlane:   "to belong to the Cluster",
	},
	"skipped group": {
		what: "give itself a role on another's group that it only reads",
		do: func(s *documents) {
			nameForeign(s.Infrastructure.Spec.Resources, s.ControlPlane.Name, s.victim)
			skipAll(s.Infrastructure.Spec.Resources)
			s.inInfrastructure(roleAt(`{group: resources.azure.com, kind: ResourceGroup, name: ` + s.victim + `}`))
			s.borrowIdentity()
		},
		infrastructure: "would give rights outside of the resource groups that were created for the Cluster",
	},
	"skipped group of a cluster of the same name": {
		what: "the same by a Cluster of its name",
		name: func(victim string) string { return victim },
		do: func(s *documents) {
			skipAll(s.Infrastructure.Spec.Resources)
			s.inInfrastructure(roleAt(`{group: resources.azure.com, kind: ResourceGroup, name: ` + s.victim + `}`))
			s.borrowIdentity()
		},
		infrastructure: "would give rights outside of the resource groups that were created for the Cluster",
	},
	"cluster": {
		what: "get the kubeconfig of another's AKS cluster that the credential reaches",
		do: func(s *documents) {
			nameForeign(s.Infrastructure.Spec.Resources, s.ControlPlane.Name, s.victim)
			nameForeign(s.ControlPlane.Spec.Resources, s.ControlPlane.Name, s.victim)
		},
		controlPlane: "of another cluster",
	},
	"cluster of the same name": {
		what:         "the same by a Cluster of its name",
		name:         func(victim string) string { return victim },
		do:           func(*documents) {},
		controlPlane: "belongs to",
	},
	"skipped cluster": {
		what: "get the kubeconfig of another's AKS cluster that it only reads",
		do: func(s *documents) {
			nameForeign(s.Infrastructure.Spec.Resources, s.ControlPlane.Name, s.victim)
			nameForeign(s.ControlPlane.Spec.Resources, s.ControlPlane.Name, s.victim)
			skipAll(s.ControlPlane.Spec.Resources)
		},
		controlPlane: "so its kubeconfig and values are not exported",
	},
	"skipped cluster of the same name": {
		what:         "the same by a Cluster of its name",
		name:         func(victim string) string { return victim },
		do:           func(s *documents) { skipAll(s.ControlPlane.Spec.Resources) },
		controlPlane: "so its kubeconfig and values are not exported",
	},
	"documents of another Cluster": {
		what: "be in what a document of another Cluster of the namespace makes",
		do: func(s *documents) {
			nameForeign(s.ControlPlane.Spec.Resources, s.ControlPlane.Name, "beside")
			s.tenant.CreateObject(&infrav1.AzureASOManagedCluster{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.tenant.Namespace, Name: "beside",
					Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "beside"}},
				Spec: infrav1.AzureASOManagedClusterSpec{AzureASOManagedResources: infrav1.AzureASOManagedResources{Resources: []runtime.RawExtension{
					{Raw: []byte(strings.ReplaceAll(string(s.Infrastructure.Spec.Resources[0].Raw), s.ControlPlane.Name, "beside"))},
				}}},
			})
		},
		controlPlane: "waits for a resource manifest ResourceGroup beside in the Cluster",
	},
	"forged inventory": {
		what: "have a subnet deleted that its documents name and its inventory claims, with the operator's identity",
		do: func(s *documents) {
			nameForeign(s.Infrastructure.Spec.Resources, s.ControlPlane.Name, "hub")
			s.inInfrastructure(`
apiVersion: network.azure.com/v1api20250501
kind: VirtualNetwork
metadata:
  name: hub-1
spec:
  location: eastus
  owner: {name: hub}
  addressSpace: {addressPrefixes: [172.16.0.0/16]}
`, `
apiVersion: network.azure.com/v1api20250501
kind: VirtualNetworksSubnet
metadata:
  name: theirs
spec:
  owner: {name: hub-1}
  addressPrefix: 172.16.1.0/24
`)
			s.borrowIdentity()
			applied.Content{
				Applied: applied.Paths{"hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs": {""}},
				Inventory: applied.Inventory{Object: "AzureASOManagedCluster/" + s.tenant.Namespace + "/" + s.ControlPlane.Name,
					Created: []arm.ID{arm.ID(s.resourceID(theirSubnet))}},
			}.Store(s.Infrastructure)
		},
		infrastructure: "so the provider does not manage it",
	},
}

// withoutCredential has no document name a credential.
func withoutCredential(s *documents) {
	s.borrowIdentity()
	s.Infrastructure.Spec.IdentityRef = nil
}

// TestManifestTries lets tenants try to reach resources of others by resource manifests. It expects that nothing of others is written,
// handed out or deleted, neither while the objects exist nor with their deletion.
func TestManifestTries(t *testing.T) {
	w := newWorld(t)
	w.CreateCredential(w.Azure.ClientSecret)
	w.CreateOperatorSecret("aso-credential")
	w.Azure.PutNetwork("hub", "hub-1", "172.16.0.0/16", map[string]string{"theirs": "172.16.1.0/24"})
	neighbour := w.InOtherNamespace()
	victim := neighbour.Namespace
	theirs := neighbour.BuildASOCluster(victim, "pool0")
	neighbour.CreateManifests(theirs)
	neighbour.WaitManifestsReady(theirs)
	ofOthers := func(request string) bool {
		return strings.Contains(request, victim) || strings.Contains(request, "/hub") || strings.Contains(request, "Microsoft.Authorization")
	}
	others := func() []string {
		return slices.DeleteFunc(w.Azure.ListResources(), func(id string) bool { return !ofOthers(id) })
	}
	before, mark := others(), w.Azure.MarkRequests()
	t.Run("tries", func(t *testing.T) {
		for name, try := range manifestTries {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tenant := w.InOtherNamespaceFor(t)
				called := tenant.Namespace
				if try.name != nil {
					called = try.name(victim)
				}
				s := &documents{world: w, tenant: tenant, victim: victim, ASOCluster: tenant.BuildASOCluster(called)}
				try.do(s)
				tenant.CreateManifests(s.ASOCluster)
				if try.infrastructure != "" {
					harness.WaitFor(tenant, &infrav1.AzureASOManagedCluster{}, called, "refused: "+try.infrastructure,
						func(o *infrav1.AzureASOManagedCluster) bool {
							return !harness.IsReady(o) &&
								strings.Contains(harness.FindCondition(o, infrav1.ReadyCondition).Message+harness.EncodeStatus(o), try.infrastructure)
						})
				}
				if try.controlPlane != "" {
					harness.WaitFor(tenant, &infrav1.AzureASOManagedControlPlane{}, called, "refused: "+try.controlPlane,
						func(o *infrav1.AzureASOManagedControlPlane) bool {
							return !harness.IsReady(o) &&
								strings.Contains(harness.FindCondition(o, infrav1.ReadyCondition).Message+harness.EncodeStatus(o), try.controlPlane)
						})
				}
				for _, secret := range secretsOf(tenant) {
					if strings.HasPrefix(secret.Name, called+"-") {
						t.Errorf("who wanted to %s got the Secret %s", try.what, secret.Name)
					}
				}
				if name == "credential" {
					tenant.CreateOperatorSecret("aso-credential") // Nothing of it can be deleted without one.
				}
				tenant.DeleteManifests(s.ASOCluster)
			})
		}
	})
	if diff := cmp.Diff(before, others()); diff != "" {
		t.Errorf("what is of others is not as it was (-before +after):\n%s", diff)
	}
	if written := slices.DeleteFunc(harness.DropKubeconfigReads(w.Azure.WritesSince(mark)),
		func(request string) bool { return !ofOthers(request) }); len(written) > 0 {
		t.Errorf("what is of others was written to: %q", written)
	}
	if status, _ := w.Azure.GetResource(theirSubnet, networkVersion); status != 200 {
		t.Errorf("the subnet of others: %d", status)
	}
	neighbour.WaitManifestsReady(theirs)
	neighbour.DeleteManifests(theirs)
}

// TestManifestsAtApply applies tries that the webhook refuses.
func TestManifestsAtApply(t *testing.T) {
	stage := harness.NewStage(t, environment)
	for name, try := range map[string]struct{ what, from, to, want string }{
		"credential": {"name the credential of another namespace", harness.OperatorSecret, "../default/aso-credential",
			"is not a valid name of a Secret"},
		"source": {"send a Secret of another namespace to Azure", `"dnsPrefix"`,
			`"windowsProfile":{"adminUsername":"u","adminPassword":{"name":"default/identity","key":"clientSecret"}},"dnsPrefix"`,
			"is not a valid name of a Secret"},
		"ConfigMap": {"send a ConfigMap of another namespace to Azure", `"dnsPrefix":"c1"`,
			`"dnsPrefixFromConfig":{"name":"../default/c","key":"k"}`, "is not a valid name of a ConfigMap"},
		"destination": {"write a Secret of another namespace", `"dnsPrefix"`,
			`"operatorSpec":{"secrets":{"adminCredentials":{"name":"default/identity","key":"clientSecret"}}},"dnsPrefix"`,
			"is not a valid name of a Secret"},
		"expression": {"have what Azure answers computed into a Secret", `"dnsPrefix"`,
			`"operatorSpec":{"secretExpressions":[{"name":"s","key":"k","value":"self.spec"}]},"dnsPrefix"`, "expressions are not supported"},
		"group": {"lead out of a group by its name", `"owner":{"name":"c1"}`,
			`"owner":{"armId":"/subscriptions/s/resourceGroups/c1/../hub"}`, "is not the ID of an Azure resource"},
		"escaped group": {"lead out of a group by an escape", `"owner":{"name":"c1"}`,
			`"owner":{"armId":"/subscriptions/s/resourceGroups/c1%2f..%2fhub"}`, "is not the ID of an Azure resource"},
		"name": {"lead out of a group by the name of a resource", `"dnsPrefix"`, `"azureName":"../../hub","dnsPrefix"`,
			"is not a valid name"},
		"deployment": {"have a template make something anywhere", `"kind":"ManagedCluster"`, `"kind":"Deployment"`, "the provider has no definition of Deployment"},
		"template": {"have a template make something anywhere", "containerservice.azure.com/v1api20251001\",\"kind\":\"ManagedCluster",
			"resources.azure.com/v1api20250401\",\"kind\":\"Deployment", "changes resources without a manifest"},
		"mark": {"give itself what is another's by a tag", "containerservice.azure.com/v1api20251001\",\"kind\":\"ManagedCluster",
			"resources.azure.com/v1api20250401\",\"kind\":\"Tag", "changes resources without a manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			object := stage.BuildASOCluster("c1").ControlPlane
			changed := strings.Replace(string(object.Spec.Resources[0].Raw), try.from, try.to, 1)
			if changed == string(object.Spec.Resources[0].Raw) {
				t.Fatalf("nothing is tried: %s", changed)
			}
			object.Spec.Resources[0].Raw = []byte(changed)
			if err := stage.TryCreate(object); err == nil || !strings.Contains(err.Error(), try.want) {
				t.Errorf("a try to %s ends with %v", try.what, err)
			}
		})
	}
}

// TestManifestDestinations lets operatorSpec name Secrets and ConfigMaps of the namespace that others created; it expects that they stay
// unchanged, and that the object names the refused one.
func TestManifestDestinations(t *testing.T) {
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	cluster := stage.BuildASOCluster("c1", "pool0")
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: stage.Namespace, Name: name}
	}
	stage.CreateObject(&corev1.ServiceAccount{ObjectMeta: meta("robot")})
	token := meta("token")
	token.Annotations = map[string]string{corev1.ServiceAccountNameKey: "robot"}
	stage.CreateObject(&corev1.Secret{ObjectMeta: token, Type: corev1.SecretTypeServiceAccountToken,
		Data: map[string][]byte{"token": []byte("t")}})
	kubeconfig := meta("c2-kubeconfig")
	kubeconfig.Labels = map[string]string{"cluster.x-k8s.io/cluster-name": "c2"}
	stage.CreateObject(&corev1.Secret{ObjectMeta: kubeconfig, Type: "cluster.x-k8s.io/secret", Data: map[string][]byte{"value": []byte("v")}})
	labelled := meta("labelled")
	labelled.Labels = map[string]string{"cluster.x-k8s.io/cluster-name": "c1"}
	stage.CreateObject(&corev1.Secret{ObjectMeta: labelled, Data: map[string][]byte{"value": []byte("v")}})
	stage.CreateCredential(stage.Azure.ClientSecret)
	stage.CreateObject(&corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"issuer": "i"}})
	stage.CreateManifests(cluster)
	stage.WaitManifestsReady(cluster)
	before := stage.SecretData("c1-ca")
	for _, try := range []struct{ list, value, name, key, want string }{
		{"secrets", "adminCredentials", "token", "token", "Secret token was created by others"},
		{"secrets", "adminCredentials", "c2-kubeconfig", "value", "Secret c2-kubeconfig was created by others"},
		{"secrets", "adminCredentials", "labelled", "value", "Secret labelled was created by others"},
		{"secrets", "adminCredentials", harness.IdentityName, "clientSecret", "Secret identity was created by others"},
		{"secrets", "adminCredentials", harness.OperatorSecret, "AZURE_CLIENT_SECRET",
			"Secret " + harness.OperatorSecret + " was created by others"},
		{"secrets", "adminCredentials", "c1-ca", "tls.crt", "is a Secret of Cluster c1"},
		{"configMaps", "principalId", "settings", "issuer", "ConfigMap settings was created by others"},
	} {
		object := cluster.ControlPlane
		harness.ChangeObject(stage, object, func(o *infrav1.AzureASOManagedControlPlane) {
			var document map[string]any
			if err := json.Unmarshal(o.Spec.Resources[0].Raw, &document); err != nil {
				t.Fatal(err)
			}
			document["spec"].(map[string]any)["operatorSpec"] = map[string]any{try.list: map[string]any{try.value: map[string]any{"name": try.name,
				"key": try.key}}}
			o.Spec.Resources[0].Raw, _ = json.Marshal(document)
		})
		harness.WaitFor(stage, &infrav1.AzureASOManagedControlPlane{}, "c1", "refused: "+try.want,
			func(o *infrav1.AzureASOManagedControlPlane) bool {
				return strings.Contains(harness.FindCondition(o, infrav1.ReadyCondition).Message, try.want)
			})
	}
	got := map[string]string{
		"token": string(stage.SecretData("token")["token"]), "kubeconfig": string(stage.SecretData("c2-kubeconfig")["value"]),
		"labelled": string(stage.SecretData("labelled")["value"]),
		"identity": fmt.Sprint(string(stage.SecretData(harness.IdentityName)["clientSecret"]) == stage.Azure.ClientSecret),
		"operator": fmt.Sprint(string(stage.SecretData(harness.OperatorSecret)["AZURE_CLIENT_SECRET"]) == stage.Azure.ClientSecret),
		"ca":       fmt.Sprint(string(stage.SecretData("c1-ca")["tls.crt"]) == string(before["tls.crt"])),
	}
	want := map[string]string{"token": "t", "kubeconfig": "v", "labelled": "v", "identity": "true", "operator": "true", "ca": "true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Secrets of others (-want +got):\n%s", diff)
	}
	settings := &corev1.ConfigMap{}
	if stage.ReadObject(settings, "settings"); settings.Data["issuer"] != "i" {
		t.Errorf("the ConfigMap of others has %v", settings.Data)
	}
	stage.DeleteManifests(cluster)
}
