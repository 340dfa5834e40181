package bridge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/etcd"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// authorityOf reads one of the CAs Cluster API generated, to sign clients with it.
func (d *bootData) authorityOf(t *testing.T, p secret.Purpose) *authority {
	t.Helper()
	pair := d.certificateOf(p).KeyPair
	cert, err := certs.DecodeCertPEM(pair.Cert)
	if err != nil {
		t.Fatal(err)
	}
	key, err := certs.DecodePrivateKeyPEM(pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert: cert, key: key, pool: pool}
}

func (d *bootData) clientCertificate(t *testing.T, p secret.Purpose) *tls.Certificate {
	t.Helper()
	c, err := d.authorityOf(t, p).issueCertificate("kubernetes-admin", nil, clientAuth)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// restConfig reaches the cluster as Cluster API does: its public name, through the CONNECT proxy.
func (d *bootData) restConfig(t *testing.T, f *fakeSimulator, client *tls.Certificate) *rest.Config {
	t.Helper()
	config := &rest.Config{Host: "https://" + testEndpointHost + ":6443", Proxy: http.ProxyURL(f.proxy), QPS: -1}
	config.CAData = d.certificateOf(secret.ClusterCA).KeyPair.Cert
	if client != nil {
		config.CertData, config.KeyData = encodePair(t, client)
	}
	return config
}

func encodePair(t *testing.T, c *tls.Certificate) (cert, key []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pemBlock("CERTIFICATE", c.Certificate[0]), pemBlock("PRIVATE KEY", der)
}

func pemBlock(kind string, der []byte) []byte {
	var b strings.Builder
	b.WriteString("-----BEGIN " + kind + "-----\n")
	for chunk := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(der)), 64) {
		b.Write(chunk)
		b.WriteByte('\n')
	}
	b.WriteString("-----END " + kind + "-----\n")
	return []byte(b.String())
}

func (d *bootData) newClientset(t *testing.T, f *fakeSimulator) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(d.restConfig(t, f, d.clientCertificate(t, secret.ClusterCA)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tokenSecret returns the Secret that the kubeadm bootstrap provider writes into the workload cluster.
func tokenSecret(token string) *corev1.Secret {
	id, half, _ := strings.Cut(token, ".")
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: bootstrapapi.BootstrapTokenSecretPrefix + id, Namespace: metav1.NamespaceSystem},
		Type:       bootstrapapi.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			bootstrapapi.BootstrapTokenIDKey:               []byte(id),
			bootstrapapi.BootstrapTokenSecretKey:           []byte(half),
			bootstrapapi.BootstrapTokenExpirationKey:       []byte(time.Now().Add(time.Hour).UTC().Format(time.RFC3339)),
			bootstrapapi.BootstrapTokenUsageAuthentication: []byte("true"),
			bootstrapapi.BootstrapTokenUsageSigningKey:     []byte("true"),
		},
	}
}

func nodeNames(t *testing.T, c *kubernetes.Clientset) []string {
	t.Helper()
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes.Items {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

// etcdMembers asks an etcd member for its peers as KubeadmControlPlane does: port-forward through
// the API server, TLS with the etcd CA inside.
func (d *bootData) etcdMembers(t *testing.T, f *fakeSimulator, node string, client *tls.Certificate) (members []string, leader string,
	err error) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(d.certificateOf(secret.EtcdCA).KeyPair.Cert)
	c, err := etcd.NewClient(t.Context(), etcd.ClientConfiguration{
		Endpoint: "etcd-" + node,
		Proxy: proxy.Proxy{
			Kind: "pods", Namespace: metav1.NamespaceSystem, Port: 2379,
			KubeConfig: d.restConfig(t, f, d.clientCertificate(t, secret.ClusterCA)),
		},
		TLSConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{*client}, MinVersion: tls.VersionTLS12},
		DialTimeout: 10 * time.Second,
		CallTimeout: 10 * time.Second,
		Logger:      zap.NewNop(),
	})
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	list, err := c.Members(t.Context())
	if err != nil {
		return nil, "", err
	}
	for _, m := range list {
		members = append(members, m.Name)
		if m.ID == c.LeaderID {
			leader = m.Name
		}
	}
	slices.Sort(members)
	return members, leader, nil
}

// callEtcd sends one gRPC request through port-forward and returns the HTTP status: the etcd client
// would reconnect for ever when it is refused.
func (d *bootData) callEtcd(t *testing.T, f *fakeSimulator, node string, client *tls.Certificate) int {
	t.Helper()
	dialer, err := proxy.NewDialer(proxy.Proxy{
		Kind: "pods", Namespace: metav1.NamespaceSystem, Port: 2379, KubeConfig: d.restConfig(t, f, d.clientCertificate(t, secret.ClusterCA)),
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(d.certificateOf(secret.EtcdCA).KeyPair.Cert)
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{*client}, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContextWithAddr(ctx, "etcd-"+node)
		},
	}
	defer transport.CloseIdleConnections()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://etcd-"+node+"/etcdserverpb.Cluster/MemberList",
		bytes.NewReader(make([]byte, 5)))
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// bootCluster boots a control plane of three and a worker and returns a client of it.
func bootCluster(t *testing.T, f *fakeSimulator, d *bootData) *kubernetes.Clientset {
	t.Helper()
	f.bootGuest(testGuest("cp-0", d.initData(t)))
	f.awaitPhase("cp-0", phaseRunning)
	c := d.newClientset(t, f)
	if _, err := c.CoreV1().Secrets(metav1.NamespaceSystem).Create(t.Context(), tokenSecret(testToken), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.bootGuest(testGuest("cp-1", d.controlPlaneJoinData(t)))
	f.bootGuest(testGuest("cp-2", d.controlPlaneJoinData(t)))
	f.bootGuest(testGuest("worker-0", d.workerData(t)))
	for _, name := range []string{"cp-1", "cp-2", "worker-0"} {
		status := f.awaitPhase(name, phaseRunning)
		if status.NodeName != name {
			t.Errorf("%s: node name %q", name, status.NodeName)
		}
	}
	return c
}

func TestClusterComesUp(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	f.runBridge()
	c := bootCluster(t, f, d)
	if diff := cmp.Diff([]string{"cp-0", "cp-1", "cp-2", "worker-0"}, nodeNames(t, c)); diff != "" {
		t.Errorf("nodes (-want +got)\n%s", diff)
	}

	t.Run("control plane as KubeadmControlPlane sees it", func(t *testing.T) {
		node, err := c.CoreV1().Nodes().Get(t.Context(), "cp-1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := node.Labels[controlPlaneLabel]; !ok {
			t.Errorf("label %s is missing: %v", controlPlaneLabel, node.Labels)
		}
		if diff := cmp.Diff([]corev1.Taint{{Key: controlPlaneLabel, Effect: corev1.TaintEffectNoSchedule}}, node.Spec.Taints); diff != "" {
			t.Errorf("taints (-want +got)\n%s", diff)
		}
		for _, component := range staticPods {
			pod, err := c.CoreV1().Pods(metav1.NamespaceSystem).Get(t.Context(), component+"-cp-1", metav1.GetOptions{})
			if err != nil {
				t.Errorf("static pod: %v", err)
				continue
			}
			if pod.Spec.NodeName != "cp-1" || pod.Status.Phase != corev1.PodRunning || pod.Status.Conditions[0].Status != corev1.ConditionTrue {
				t.Errorf("static pod %s is not running on its node: %+v", pod.Name, pod.Status)
			}
		}
		config, err := c.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "kubeadm-config", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(config.Data["ClusterConfiguration"], "kubernetesVersion: "+testVersion) {
			t.Errorf("kubeadm-config does not hold the ClusterConfiguration: %q", config.Data)
		}
	})

	t.Run("etcd over port-forward", func(t *testing.T) {
		for _, node := range []string{"cp-0", "cp-2"} {
			members, leader, err := d.etcdMembers(t, f, node, d.clientCertificate(t, secret.EtcdCA))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"cp-0", "cp-1", "cp-2"}, members); diff != "" {
				t.Errorf("members (-want +got)\n%s", diff)
			}
			if leader != "cp-0" {
				t.Errorf("leader is %q, want the first member", leader)
			}
		}
	})

	t.Run("etcd refuses clients of another CA", func(t *testing.T) {
		for ca, want := range map[secret.Purpose]int{secret.EtcdCA: http.StatusOK, secret.ClusterCA: http.StatusUnauthorized} {
			if got := d.callEtcd(t, f, "cp-0", d.clientCertificate(t, ca)); got != want {
				t.Errorf("client certificate of %s: answered %d, want %d", ca, got, want)
			}
		}
	})

	t.Run("who may do what", func(t *testing.T) { checkAccess(t, f, d) })

	t.Run("as kubectl asks", func(t *testing.T) { checkKubectl(t, f, d, c) })

	t.Run("port-forward over WebSocket", func(t *testing.T) {
		target := c.CoreV1().RESTClient().Post().
			Resource("pods").Namespace(metav1.NamespaceSystem).Name("etcd-cp-0").SubResource("portforward").URL()
		dialer, err := portforward.NewSPDYOverWebsocketDialer(target, d.restConfig(t, f, d.clientCertificate(t, secret.ClusterCA)))
		if err != nil {
			t.Fatal(err)
		}
		conn, protocol, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if protocol != portforward.PortForwardProtocolV1Name {
			t.Errorf("protocol %q, want %q", protocol, portforward.PortForwardProtocolV1Name)
		}
	})

	t.Run("version", func(t *testing.T) {
		v, err := c.Discovery().ServerVersion()
		if err != nil || v.GitVersion != testVersion || v.Minor != "34" {
			t.Errorf("version %+v, error %v", v, err)
		}
	})
}

// checkAccess asks with different credentials and compares the status codes.
func checkAccess(t *testing.T, f *fakeSimulator, d *bootData) {
	other := newBootData(t)
	for name, tc := range map[string]struct {
		reason string
		client *tls.Certificate
		token  string
		path   string
		want   int
	}{
		"admin lists nodes": {reason: "kubeconfigs of Cluster API", client: d.clientCertificate(t, secret.ClusterCA),
			path: "/api/v1/nodes", want: 200},
		"anonymous lists nodes": {reason: "no credential", path: "/api/v1/nodes", want: 401},
		"stranger lists nodes": {reason: "a certificate of another cluster's CA", client: other.clientCertificate(t, secret.ClusterCA),
			path: "/api/v1/nodes", want: 401},
		"etcd client lists nodes": {reason: "the etcd CA is not the cluster CA", client: d.clientCertificate(t, secret.EtcdCA),
			path: "/api/v1/nodes", want: 401},
		"anonymous reads cluster-info": {reason: "discovery is anonymous", path: clusterInfoPath, want: 200},
		"token reads cluster-info":     {reason: "second step of discovery", token: testToken, path: clusterInfoPath, want: 200},
		"token lists secrets":          {reason: "kubeadm's roles do not grant it", token: testToken, path: "/api/v1/secrets", want: 403},
		"wrong secret half":            {reason: "the ID alone is public", token: "abcdef.ffffffffffffffff", path: clusterInfoPath, want: 401},
		"unknown token":                {reason: "no Secret of that ID", token: "fedcba.0123456789abcdef", path: clusterInfoPath, want: 401},
	} {
		t.Run(name, func(t *testing.T) {
			config := d.restConfig(t, f, tc.client)
			config.BearerToken = tc.token
			transport, err := rest.TransportFor(config)
			if err != nil {
				t.Fatal(err)
			}
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+tc.path, nil)
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tc.want {
				t.Errorf("%s: answered %d, want %d", tc.reason, resp.StatusCode, tc.want)
			}
		})
	}
}

// awaitNode watches one Node until the condition holds for an event on it.
func awaitNode(t *testing.T, c *kubernetes.Clientset, name, what string, condition func(watch.Event, *corev1.Node) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	w, err := c.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if n, ok := e.Object.(*corev1.Node); ok && n.Name == name && condition(e, n) {
			return
		}
	}
	t.Fatalf("node %s: %s did not happen", name, what)
}

func readyStatus(n *corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

func TestMachinesGoAway(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	f.runBridge()
	c := bootCluster(t, f, d)

	f.deleteGuest("cp-0")
	f.awaitCondition("cp-0's listener to go", func() bool { return len(f.listeners[testGuest("cp-0", "").VMID]) == 0 })
	if diff := cmp.Diff([]string{"cp-1", "cp-2", "worker-0"}, nodeNames(t, c)); diff != "" {
		t.Errorf("nodes after a control plane was deleted (-want +got)\n%s", diff)
	}
	if _, err := c.CoreV1().Pods(metav1.NamespaceSystem).Get(t.Context(), "etcd-cp-0", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("static pod of the deleted machine: %v, want NotFound", err)
	}
	members, leader, err := d.etcdMembers(t, f, "cp-2", d.clientCertificate(t, secret.EtcdCA))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cp-1", "cp-2"}, members); diff != "" || leader == "" {
		t.Errorf("etcd without its first leader: leader %q, members (-want +got)\n%s", leader, diff)
	}

	f.editGuest("worker-0", func(g *guest) { g.PowerState = "deallocated" })
	awaitNode(t, c, "worker-0", "NotReady", func(_ watch.Event, n *corev1.Node) bool { return readyStatus(n) == corev1.ConditionUnknown })
	f.editGuest("worker-0", func(g *guest) { g.PowerState, g.BootID = "running", "boot-2" })
	awaitNode(t, c, "worker-0", "Ready again", func(_ watch.Event, n *corev1.Node) bool { return readyStatus(n) == corev1.ConditionTrue })

	if err := c.CoreV1().Nodes().Delete(t.Context(), "worker-0", metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete a Node as kubectl does: %v", err)
	}
	f.deleteGuest("worker-0")
	f.deleteGuest("cp-1")
	f.deleteGuest("cp-2")
	f.awaitCondition("all listeners to go", func() bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(f.listeners)), func(l map[int32]string) bool { return len(l) > 0 })
	})

	// The next cluster of the same name starts from nothing.
	again := newBootData(t)
	f.bootGuest(testGuest("cp-0", again.initData(t)))
	f.awaitCondition("cp-0 to join anew", func() bool { return len(f.listeners[testGuest("cp-0", "").VMID]) == 1 })
	f.awaitPhase("cp-0", phaseRunning)
	if diff := cmp.Diff([]string{"cp-0"}, nodeNames(t, again.newClientset(t, f))); diff != "" {
		t.Errorf("nodes of the next cluster (-want +got)\n%s", diff)
	}
}

func TestBridgeRestarts(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	stop := f.runBridge()
	bootCluster(t, f, d)
	broken := testGuest("worker-1", "")
	f.bootGuest(broken)
	f.awaitPhase("worker-1", phaseFailed)
	stop()
	before := map[string]map[int32]string{}
	f.changeAndWake(func() { before, f.listeners = f.listeners, map[string]map[int32]string{} })

	// A restored machine does not boot again, however long that would take.
	f.options.TimeScale = 1000
	f.runBridge()
	f.awaitCondition("all listeners to be registered anew", func() bool { return len(f.listeners) == len(before) })
	c := d.newClientset(t, f)
	for _, name := range []string{"cp-0", "cp-1", "cp-2", "worker-0"} {
		awaitNode(t, c, name, "return", func(e watch.Event, _ *corev1.Node) bool { return e.Type == watch.Added })
	}
	members, leader, err := d.etcdMembers(t, f, "cp-1", d.clientCertificate(t, secret.EtcdCA))
	if err != nil || len(members) != 3 || leader == "" {
		t.Errorf("etcd after the restart: members %v, leader %q, error %v", members, leader, err)
	}
	if diff := cmp.Diff([]string{"cp-0", "cp-1", "cp-2", "worker-0"}, nodeNames(t, c)); diff != "" {
		t.Errorf("nodes (-want +got)\n%s", diff)
	}
}

// TestJoinWaits checks the messages of a joining machine while it cannot join, and that it joins once it can.
func TestJoinWaits(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	f.runBridge()
	f.bootGuest(testGuest("worker-0", d.workerData(t)))
	awaitMessage := func(name, want string) {
		t.Helper()
		f.awaitCondition(name+" to report "+want, func() bool { return f.lastReport(name).Message == want })
	}
	awaitMessage("worker-0",
		"kubeadm join retries: API server "+testEndpointHost+":6443 is not reachable: listener: no member of the backend pool listens on 6443")
	f.bootGuest(testGuest("cp-0", d.initData(t)))
	awaitMessage("worker-0",
		"kubeadm join retries: API server "+testEndpointHost+":6443: Unauthorized: bootstrap token abcdef has no Secret "+
			"kube-system/bootstrap-token-abcdef in the workload cluster (401)")
	if _, err := d.newClientset(t, f).CoreV1().Secrets(metav1.NamespaceSystem).Create(t.Context(), tokenSecret(testToken),
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.awaitPhase("worker-0", phaseRunning)

	// Pins of another CA never match: kubeadm gives up after timeouts.discovery.
	stranger := newBootData(t)
	stranger.join.Timeouts = bootstrapv1.Timeouts{DiscoverySeconds: new(int32(1))}
	f.bootGuest(testGuest("worker-1", stranger.workerData(t)))
	got := f.awaitPhase("worker-1", phaseFailed).Message
	hash := func(b *bootData) string { return b.join.Discovery.BootstrapToken.CACertHashes[0] }
	want := "kubeadm join gave up after 1s: caCertHashes: none of " + hash(stranger) +
		" is the CA of the cluster at " + testEndpointHost + ":6443, which is " + hash(d)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reason (-want +got)\n%s", diff)
	}

	// A second kubeadm init with the same CA is a bug of the control-plane provider worth seeing.
	f.bootGuest(testGuest("cp-1", d.initData(t)))
	if got := f.awaitPhase("cp-1", phaseFailed).Message; got != errAlreadyInitialised.Error() {
		t.Errorf("second kubeadm init: %q", got)
	}
}

// TestBootTakesTime checks that the boot model's duration is spent before the Node appears.
func TestBootTakesTime(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	f.options.TimeScale = 0.01
	f.runBridge()
	start := time.Now() // Before the boot, whose timer runs when the phase Booting is seen.
	f.bootGuest(testGuest("cp-0", d.initData(t)))
	f.awaitPhase("cp-0", phaseRunning)
	if took, want := time.Since(start), controlPlaneBoot/100; took < want {
		t.Errorf("a control plane booted in %s at time scale 0.01, want at least %s", took, want)
	}
}

// TestReportsKeepSecrets reads every report the bridge sent.
func TestReportsKeepSecrets(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	d.setKey("aadClientSecret", "s3cret-value")
	f.runBridge()
	f.bootGuest(testGuest("cp-0", d.initData(t)))
	f.awaitPhase("cp-0", phaseFailed)
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := json.Marshal(f.statuses)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "s3cret-value") {
		t.Errorf("a report shows the client secret: %s", all)
	}
	if want := "/etc/kubernetes/azure.json: keys useManagedIdentityExtension and aadClientSecret are both set: only one identity can be " +
		"used"; f.lastReport("cp-0").Message != want {
		t.Errorf("reason %q, want %q", f.lastReport("cp-0").Message, want)
	}
}

func TestOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		o      Options
		want   string
	}{
		"address": {"a host without a scheme is a common slip", Options{Simulator: "127.0.0.1:28443"},
			`the simulator's address "127.0.0.1:28443" is not an http(s) URL such as https://127.0.0.1:28443`},
		"time scale": {"time does not run backwards", Options{Simulator: "https://127.0.0.1:1", TimeScale: -1},
			"time scale -1 is negative: use 1 for the measured medians, 0 for at once"},
		"ports": {"the bounds are swapped", Options{Simulator: "https://127.0.0.1:1", MinPort: 20, MaxPort: 10},
			"port range 20-10 is not MIN-MAX within 1-65535"},
	} {
		err := RunBridge(t.Context(), tc.o)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s (%s): got %v, want %s", name, tc.reason, err, tc.want)
		}
	}
}
