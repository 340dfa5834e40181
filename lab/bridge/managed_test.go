package bridge

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	testFQDN      = "aks-0123.hcp.westeurope.azmk8s.io"
	nodeGroup     = "MC_Group_aks_westeurope"
	testSet       = "aks-pool0-12345678-vmss"
	testImage     = "AKSUbuntu-2204gen2containerd-202601.01.0"
	keyOfTest     = "key-1"
	userLabel     = "team"
	foreignLabel  = "of-another-program"
	clusterFormat = "/subscriptions/sub/resourceGroups/Group/providers/Microsoft.ContainerService/managedClusters/"
)

func (f *fakeSimulator) getClusters(w http.ResponseWriter, r *http.Request) {
	f.longPoll(w, r, func() (string, any) { return "clusters", slices.Clone(f.clusters) })
}

func (f *fakeSimulator) putClusterListener(_ http.ResponseWriter, r *http.Request) {
	var b clusterListener
	_ = json.NewDecoder(r.Body).Decode(&b)
	f.changeAndWake(func() { f.clusterListeners[b.ID] = b.Address })
}

func (f *fakeSimulator) deleteClusterListener(_ http.ResponseWriter, r *http.Request) {
	var b clusterListener
	_ = json.NewDecoder(r.Body).Decode(&b)
	f.changeAndWake(func() { delete(f.clusterListeners, b.ID) })
}

func (f *fakeSimulator) getKeys(w http.ResponseWriter, _ *http.Request) {
	public := f.signer.PublicKey
	b64 := base64.RawURLEncoding.EncodeToString
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]string{
		"kid": keyOfTest, "kty": "RSA", "n": b64(public.N.Bytes()), "e": b64(big.NewInt(int64(public.E)).Bytes()),
	}}})
}

// newManagedCluster has a CA of its own and no nodes.
func newManagedCluster(t *testing.T, name string) managedCluster {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().AddDate(30, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := managedCluster{
		ID: clusterFormat + name, Name: name, ResourceGroup: "Group", Location: "westeurope", KubernetesVersion: "1.34.2",
		FQDN: testFQDN, PowerState: "Running", ServiceCIDR: "192.168.0.0/16",
	}
	c.CA.Certificate, c.CA.Key = string(pemBlock("CERTIFICATE", der)), string(pemBlock("PRIVATE KEY", keyDER))
	return c
}

func poolNode(ordinal string) managedNode {
	id := "/subscriptions/sub/resourceGroups/" + nodeGroup + "/providers/Microsoft.Compute/virtualMachineScaleSets/" + testSet + "/virtualMachines/" + ordinal
	return managedNode{
		Name: testSet + "00000" + ordinal, Pool: "pool0", Mode: "System", InstanceID: id,
		ProviderID: "azure://" + strings.ReplaceAll(id, nodeGroup, strings.ToLower(nodeGroup)), Addresses: []string{"10.224.0.4"},
		KubernetesVersion: "1.34.2", OSType: "Linux", OSSKU: "Ubuntu", NodeImageVersion: testImage, VMSize: "Standard_D2s_v3", Zone: "2",
		Labels: map[string]string{userLabel: "blue"}, Taints: []string{"dedicated=db:NoSchedule"}, Priority: "Regular", Running: new(true),
		BootID: "boot-1",
	}
}

// clientOf reaches a cluster through the simulated network, as the owner of its admin kubeconfig or with a token.
func clientOf(t *testing.T, f *fakeSimulator, c managedCluster, token string) *kubernetes.Clientset {
	t.Helper()
	config := &rest.Config{Host: "https://" + c.FQDN, Proxy: http.ProxyURL(f.proxy), QPS: -1, BearerToken: token}
	config.CAData = []byte(c.CA.Certificate)
	if token == "" {
		ca, err := newAuthority("certificate", []byte(c.CA.Certificate), "key", []byte(c.CA.Key))
		if err != nil {
			t.Fatal(err)
		}
		pair, err := ca.issueCertificate("masterclient", nil, clientAuth)
		if err != nil {
			t.Fatal(err)
		}
		config.CertData, config.KeyData = encodePair(t, pair)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// setCluster replaces the only cluster.
func (f *fakeSimulator) setCluster(c managedCluster) {
	f.changeAndWake(func() { f.clusters = []managedCluster{c} })
}

func (f *fakeSimulator) awaitListener(c managedCluster, there bool) {
	f.t.Helper()
	f.awaitCondition("listener of "+c.Name, func() bool { return (f.clusterListeners[c.ID] != "") == there })
}

// lookForNode looks until the Node is as wanted.
func lookForNode(t *testing.T, c *kubernetes.Clientset, name, what string, want func(*corev1.Node, error) bool) (node *corev1.Node) {
	t.Helper()
	eventually(t, "node "+name+" is "+what, func() bool {
		var err error
		node, err = c.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		return want(node, err)
	})
	return node
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		}
	}
}

func nodeExists(_ *corev1.Node, err error) bool { return err == nil }
func nodeGone(_ *corev1.Node, err error) bool   { return apierrors.IsNotFound(err) }

func TestManagedClusterNodes(t *testing.T) {
	f, c := newFakeSimulator(t), newManagedCluster(t, "aks")
	first, second := poolNode("0"), poolNode("1")
	c.Nodes = []managedNode{first}
	f.setCluster(c)
	f.runBridge()
	f.awaitListener(c, true)
	k := clientOf(t, f, c, "")

	node := lookForNode(t, k, first.Name, "there", nodeExists)
	wantLabels := map[string]string{
		"agentpool": "pool0", "kubernetes.azure.com/agentpool": "pool0", "kubernetes.azure.com/cluster": nodeGroup,
		"kubernetes.azure.com/mode": "system", "kubernetes.azure.com/role": "agent", "kubernetes.azure.com/os-sku": "Ubuntu",
		"kubernetes.azure.com/node-image-version": testImage, userLabel: "blue",
		corev1.LabelHostname: first.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", corev1.LabelInstanceTypeStable: "Standard_D2s_v3",
		corev1.LabelTopologyRegion: "westeurope", corev1.LabelTopologyZone: "westeurope-2",
	}
	if diff := cmp.Diff(wantLabels, node.Labels); diff != "" {
		t.Errorf("labels (-want +got)\n%s", diff)
	}
	if want := "azure:///subscriptions/sub/resourceGroups/mc_group_aks_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/" + testSet + "/virtualMachines/0"; node.Spec.ProviderID != want {
		t.Errorf("provider ID %s, want %s", node.Spec.ProviderID, want)
	}
	if diff := cmp.Diff([]corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}, node.Spec.Taints); diff != "" {
		t.Errorf("taints (-want +got)\n%s", diff)
	}
	if node.Status.NodeInfo.KubeletVersion != "v1.34.2" || readyStatus(node) != corev1.ConditionTrue {
		t.Errorf("kubelet %s, Ready %s; want v1.34.2, True", node.Status.NodeInfo.KubeletVersion, readyStatus(node))
	}
	for _, namespace := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic} {
		if _, err := k.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}

	t.Run("an upgrade keeps the Node and labels of others", func(t *testing.T) {
		patch := []byte(`{"metadata":{"labels":{"` + foreignLabel + `":"yes"}}}`)
		if _, err := k.CoreV1().Nodes().Patch(t.Context(), first.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		first.KubernetesVersion, first.BootID, first.Labels, first.Taints = "1.35.1", "boot-2", map[string]string{"tier": "gold"}, nil
		c.KubernetesVersion, c.Nodes = "1.35.1", []managedNode{first, second}
		f.setCluster(c)
		upgraded := lookForNode(t, k, first.Name, "upgraded", func(n *corev1.Node, err error) bool {
			return err == nil && n.Status.NodeInfo.KubeletVersion == "v1.35.1"
		})
		labels := maps.Clone(wantLabels)
		delete(labels, userLabel)
		labels["tier"], labels[foreignLabel] = "gold", "yes"
		if diff := cmp.Diff(labels, upgraded.Labels); diff != "" {
			t.Errorf("labels (-want +got)\n%s", diff)
		}
		if upgraded.UID != node.UID || upgraded.Status.NodeInfo.BootID != "boot-2" || len(upgraded.Spec.Taints) != 0 {
			t.Errorf("UID %s, boot %s, taints %v; want %s, boot-2 and none", upgraded.UID, upgraded.Status.NodeInfo.BootID, upgraded.Spec.Taints,
				node.UID)
		}
		lookForNode(t, k, second.Name, "there", nodeExists)
		if v, err := k.Discovery().ServerVersion(); err != nil || v.GitVersion != "v1.35.1" {
			t.Errorf("server version %v, %v; want v1.35.1", v, err)
		}
	})

	t.Run("a VM that stops takes its Node along, and one that goes removes it", func(t *testing.T) {
		second.Running = new(false)
		c.Nodes = []managedNode{second}
		f.setCluster(c)
		lookForNode(t, k, first.Name, "gone", nodeGone)
		lookForNode(t, k, second.Name, "not ready",
			func(n *corev1.Node, err error) bool { return err == nil && readyStatus(n) == corev1.ConditionUnknown })
	})
}

func TestManagedClusterStopsAndGoes(t *testing.T) {
	f, c := newFakeSimulator(t), newManagedCluster(t, "aks")
	c.Nodes = []managedNode{poolNode("0")}
	f.setCluster(c)
	stop := f.runBridge()
	f.awaitListener(c, true)
	k := clientOf(t, f, c, "")
	lookForNode(t, k, c.Nodes[0].Name, "there", nodeExists)

	c.PowerState = "Stopped"
	f.setCluster(c)
	f.awaitListener(c, false)
	if _, err := k.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a stopped cluster answers")
	}
	c.PowerState = "Running"
	f.setCluster(c)
	f.awaitListener(c, true)
	lookForNode(t, k, c.Nodes[0].Name, "there", nodeExists)

	stop()
	f.changeAndWake(func() { clear(f.clusterListeners) })
	f.runBridge()
	f.awaitListener(c, true)
	lookForNode(t, k, c.Nodes[0].Name, "there after a restart of the bridge", nodeExists)

	// A cluster that was deleted and made anew has another CA and none of the old objects.
	again := newManagedCluster(t, "aks")
	f.setCluster(again)
	fresh := clientOf(t, f, again, "")
	lookForNode(t, fresh, c.Nodes[0].Name, "gone", nodeGone)
	if _, err := k.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a client of the deleted cluster can use the new one")
	}
	f.changeAndWake(func() { f.clusters = nil })
	f.awaitListener(again, false)
}

func TestManagedClusterCredentials(t *testing.T) {
	f, c := newFakeSimulator(t), newManagedCluster(t, "aks")
	var err error
	if f.signer, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	token := func(key crypto.Signer, audience string, expires time.Duration) string {
		t := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"aud": audience, "oid": "user", "exp": time.Now().Add(expires).Unix()})
		t.Header["kid"] = keyOfTest
		signed, err := t.SignedString(key)
		if err != nil {
			return err.Error()
		}
		return signed
	}
	c.AAD = true
	f.setCluster(c)
	f.runBridge()
	f.awaitListener(c, true)
	for name, tc := range map[string]struct {
		reason string
		token  string
		want   bool
	}{
		"AKS":      {"a token for AKS opens the cluster", token(f.signer, serverApplication, time.Hour), true},
		"Audience": {"a token for Resource Manager does not", token(f.signer, "https://management.core.windows.net/", time.Hour), false},
		"Signer":   {"the key must be Entra's", token(stranger, serverApplication, time.Hour), false},
		"Expired":  {"the token must be valid now", token(f.signer, serverApplication, -time.Hour), false},
		"NoToken":  {"a text that is no token is refused", "nonsense", false},
	} {
		_, err := clientOf(t, f, c, tc.token).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if (err == nil) != tc.want || err != nil && !apierrors.IsUnauthorized(err) {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
		if err != nil && strings.Contains(err.Error(), tc.token) && tc.token != "nonsense" {
			t.Errorf("%s: the answer shows the token: %v", name, err)
		}
	}

	c.AAD = false
	c.KubernetesVersion = "1.35.1"
	f.setCluster(c)
	admin := clientOf(t, f, c, "")
	eventually(t, "the server has another version", func() bool {
		v, err := admin.Discovery().ServerVersion()
		return err == nil && v.GitVersion == "v1.35.1"
	})
	if _, err := clientOf(t, f, c, token(f.signer, serverApplication, time.Hour)).CoreV1().Nodes().List(t.Context(),
		metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token opens a cluster that is not integrated with Entra ID: %v", err)
	}
}

func TestManagedNode(t *testing.T) {
	c := managedCluster{Location: "westeurope"}
	spot := poolNode("0")
	spot.Priority, spot.OSType, spot.Zone, spot.Taints = "Spot", "Windows", "",
		[]string{"kubernetes.azure.com/scalesetpriority=spot:NoSchedule", "gpu:NoExecute"}
	spot.InstanceID = strings.ReplaceAll(spot.InstanceID, nodeGroup, "MC_"+strings.Repeat("g", 59)+"-x")
	node, err := spot.newNode(c)
	if err != nil {
		t.Fatal(err)
	}
	want := []corev1.Taint{
		{Key: "kubernetes.azure.com/scalesetpriority", Value: "spot", Effect: corev1.TaintEffectNoSchedule},
		{Key: "gpu", Effect: corev1.TaintEffectNoExecute},
	}
	if diff := cmp.Diff(want, node.Spec.Taints); diff != "" {
		t.Errorf("taints (-want +got)\n%s", diff)
	}
	for label, want := range map[string]string{
		"kubernetes.azure.com/scalesetpriority": "spot", corev1.LabelOSStable: "windows", corev1.LabelTopologyZone: "0",
		"kubernetes.azure.com/cluster": "MC_" + strings.Repeat("g", 59),
	} {
		if got := node.Labels[label]; got != want {
			t.Errorf("label %s = %q, want %q", label, got, want)
		}
	}
	spot.Taints = []string{"no-effect"}
	if _, err := spot.newNode(c); err == nil || !strings.Contains(err.Error(), `"no-effect" is not key=value:effect`) {
		t.Errorf("a taint without effect: %v", err)
	}
}
