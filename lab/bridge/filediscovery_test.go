package bridge

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// kubeconfigOf is that of an administrator of a managed cluster, as AKS hands it out.
func kubeconfigOf(t *testing.T, c managedCluster) string {
	t.Helper()
	ca, err := newAuthority("certificate", []byte(c.CA.Certificate), "key", []byte(c.CA.Key))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.issueCertificate("masterclient", nil, clientAuth)
	if err != nil {
		t.Fatal(err)
	}
	user := clientcmdapi.NewAuthInfo()
	user.ClientCertificateData, user.ClientKeyData = encodePair(t, pair)
	raw, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"aks": {Server: "https://" + c.FQDN + ":443",
			CertificateAuthorityData: []byte(c.CA.Certificate)}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"admin": user},
		Contexts:       map[string]*clientcmdapi.Context{"admin": {Cluster: "aks", AuthInfo: "admin"}},
		CurrentContext: "admin",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// joiningAKS is bootstrap data of a VM of the user's own.
func joiningAKS(t *testing.T, kubeconfig string) *bootData {
	t.Helper()
	d := sharedBootData(t)
	delete(d.azureJSON, "securityGroupName")
	d.files = []bootstrapv1.File{{Path: adminKubeconfig, Owner: "root:root", Permissions: "0644", Content: kubeconfig}}
	d.before = []string{"kubeadm init phase upload-config all"}
	d.join.Discovery = bootstrapv1.Discovery{File: bootstrapv1.FileDiscovery{KubeConfigPath: adminKubeconfig}}
	return d
}

// TestJoinByFile lets a VM of the user join a managed cluster and leave it; it expects that the cluster continues.
func TestJoinByFile(t *testing.T) {
	f, c := newFakeSimulator(t), newManagedCluster(t, "aks")
	f.setCluster(c)
	f.runBridge()
	f.awaitListener(c, true)
	k := clientOf(t, f, c, "")
	f.bootGuest(testGuest("own-0", joiningAKS(t, kubeconfigOf(t, c)).workerData(t)))
	f.awaitPhase("own-0", phaseRunning)
	node := lookForNode(t, k, "own-0", "there", nodeExists)
	if readyStatus(node) != corev1.ConditionTrue || !strings.HasPrefix(node.Spec.ProviderID, "azure://") {
		t.Errorf("Ready %s, provider ID %q", readyStatus(node), node.Spec.ProviderID)
	}
	f.deleteGuest("own-0")
	lookForNode(t, k, "own-0", "gone", nodeGone)
}

// TestBrokenFileDiscovery breaks one thing per row.
func TestBrokenFileDiscovery(t *testing.T) {
	for name, tc := range map[string]struct {
		reason     string
		edit       func(*bootData)
		kubeconfig func(string) string
		want       string
	}{
		"no upload": {reason: "AKS keeps no configuration of kubeadm", edit: func(d *bootData) { d.before = nil },
			want: "ConfigMap kubeadm-config, which kubeadm init phase upload-config all writes"},
		"no file": {reason: "kubeadm would find none", edit: func(d *bootData) { d.files = nil },
			want: adminKubeconfig + ": kubeadm reads it but write_files does not write it"},
		"no kubeconfig": {reason: "the message must not show the content of the file", kubeconfig: func(string) string { return "token: SECRET" },
			want: adminKubeconfig + ": is not a kubeconfig"},
		"elsewhere": {reason: "no such name", kubeconfig: func(s string) string { return strings.ReplaceAll(s, testFQDN, "other.azmk8s.io") },
			want: "API server other.azmk8s.io:443 is not reachable"},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := newFakeSimulator(t), newManagedCluster(t, "aks")
			f.setCluster(c)
			f.runBridge()
			f.awaitListener(c, true)
			kubeconfig := kubeconfigOf(t, c)
			if tc.kubeconfig != nil {
				kubeconfig = tc.kubeconfig(kubeconfig)
			}
			d := joiningAKS(t, kubeconfig)
			d.join.Timeouts.DiscoverySeconds = new(int32(1))
			if tc.edit != nil {
				tc.edit(d)
			}
			f.bootGuest(testGuest("own-0", d.workerData(t)))
			status := f.awaitPhase("own-0", phaseFailed)
			if !strings.Contains(status.Message, tc.want) || strings.Contains(status.Message, "SECRET") {
				t.Errorf("%s: %q, want %q", tc.reason, status.Message, tc.want)
			}
		})
	}
}
