package bridge

import (
	"context"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/util/certs"
)

// adminKubeconfig is the kubeconfig that phases of kubeadm init use.
const adminKubeconfig = "/etc/kubernetes/admin.conf"

// clusterConfigs are the ConfigMaps that kubeadm join reads and kubeadm init phase upload-config all writes.
var clusterConfigs = map[string]map[string]string{
	"kubeadm-config": {"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"},
	"kubelet-config": {"kubelet": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"},
}

// fileDiscovery is how a machine finds a cluster by a kubeconfig in a file.
type fileDiscovery struct {
	file   string
	config *rest.Config
	ca     *x509.Certificate
	// uploads has the machine write what kubeadm join reads before it joins, as one that can be an administrator.
	uploads *rest.Config
}

// readFileDiscovery checks the kubeconfigs that a join by file needs; it returns nil for one by token.
func readFileDiscovery(script *bootScript, plan *kubeadmPlan) (*fileDiscovery, error) {
	if plan.Join == nil || plan.Join.Discovery.File.KubeConfigPath == "" {
		return nil, nil
	}
	d := &fileDiscovery{file: plan.Join.Discovery.File.KubeConfigPath}
	var err error
	if d.config, err = readKubeconfig(script, d.file); err != nil {
		return nil, err
	}
	if d.ca, err = certs.DecodeCertPEM(d.config.CAData); err != nil {
		return nil, fmt.Errorf("%s: certificate-authority-data: %w", d.file, err)
	}
	if plan.Uploads {
		d.uploads, err = readKubeconfig(script, adminKubeconfig)
	}
	return d, err
}

func readKubeconfig(script *bootScript, name string) (*rest.Config, error) {
	written, ok := script.Files[name]
	if !ok {
		return nil, fmt.Errorf("%s: kubeadm reads it but %s does not write it", name, script.WrittenBy)
	}
	text, err := written.readContent()
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		// The cause may quote the file, which has credentials.
		return nil, fmt.Errorf("%s: is not a kubeconfig", name)
	}
	return config, nil
}

// discoverByFile finds the API server of the file over the simulated network, and reads there what kubeadm join reads. One try; the caller
// retries.
func (d *fileDiscovery) discoverByFile(ctx context.Context, sim *simulator) (*x509.Certificate, error) {
	if d.uploads != nil {
		if err := uploadConfiguration(ctx, sim, d.uploads); err != nil {
			return nil, fmt.Errorf("kubeadm init phase upload-config: %w", err)
		}
	}
	client, err := throughNetwork(ctx, sim, d.config)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(clusterConfigs)) {
		if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return nil, fmt.Errorf("API server %s: ConfigMap %s, which kubeadm init phase upload-config all writes: %w", d.config.Host, name, err)
		}
	}
	return d.ca, nil
}

// uploadConfiguration writes the configurations of kubeadm into a cluster that has none.
func uploadConfiguration(ctx context.Context, sim *simulator, config *rest.Config) error {
	client, err := throughNetwork(ctx, sim, config)
	if err != nil {
		return err
	}
	for name, data := range clusterConfigs {
		uploaded := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}, Data: data}
		if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(ctx, uploaded, metav1.CreateOptions{}); err != nil &&
			!apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("ConfigMap %s: %w", name, err)
		}
	}
	return nil
}

// throughNetwork returns a client that reaches the server of a kubeconfig as the machine would.
func throughNetwork(ctx context.Context, sim *simulator, config *rest.Config) (*kubernetes.Clientset, error) {
	server, err := url.Parse(config.Host)
	if err != nil || server.Hostname() == "" {
		return nil, fmt.Errorf("server %q of the kubeconfig is not a URL", config.Host)
	}
	port := server.Port()
	if port == "" {
		port = "443"
	}
	address, err := sim.resolveDial(ctx, server.Hostname(), port)
	if err != nil {
		return nil, fmt.Errorf("API server %s is not reachable: %w", strings.TrimPrefix(config.Host, "https://"), err)
	}
	dialed := rest.CopyConfig(config)
	dialed.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return kubernetes.NewForConfig(dialed)
}
