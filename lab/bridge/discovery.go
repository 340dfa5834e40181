package bridge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
)

// discoverByToken does kubeadm join's discovery over the simulated network: find the API server, read
// cluster-info, compare the CA with the pins, then ask again with the CA trusted and the token
// shown. It returns the CA. One try; the caller retries.
func discoverByToken(ctx context.Context, sim *simulator, d bootstrapv1.BootstrapTokenDiscovery) (*x509.Certificate, error) {
	host, port, err := net.SplitHostPort(d.APIServerEndpoint)
	if err != nil {
		return nil, err
	}
	address, err := sim.resolveDial(ctx, host, port)
	if err != nil {
		return nil, fmt.Errorf("API server %s is not reachable: %w", d.APIServerEndpoint, err)
	}
	info, err := getClusterInfo(ctx, address, &tls.Config{InsecureSkipVerify: true}, host, "")
	if err != nil {
		return nil, fmt.Errorf("API server %s: %w", d.APIServerEndpoint, err)
	}
	ca, err := clusterInfoCA(info)
	if err != nil {
		return nil, fmt.Errorf("cluster-info of %s: %w", d.APIServerEndpoint, err)
	}
	if len(d.CACertHashes) > 0 && !slices.ContainsFunc(d.CACertHashes, func(h string) bool { return strings.EqualFold(h, pinOf(ca)) }) {
		return nil, fmt.Errorf("caCertHashes: none of %s is the CA of the cluster at %s, which is %s", strings.Join(d.CACertHashes, ", "),
			d.APIServerEndpoint, pinOf(ca))
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	if _, err := getClusterInfo(ctx, address, &tls.Config{RootCAs: pool, ServerName: host}, host, d.Token); err != nil {
		return nil, fmt.Errorf("API server %s: %w", d.APIServerEndpoint, err)
	}
	return ca, nil
}

func getClusterInfo(ctx context.Context, address string, config *tls.Config, host, token string) (*corev1.ConfigMap, error) {
	config.MinVersion = tls.VersionTLS12
	transport := &http.Transport{
		TLSClientConfig:   config,
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+net.JoinHostPort(host, "443")+clusterInfoPath, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		var status metav1.Status
		if json.Unmarshal(body, &status) == nil && status.Message != "" {
			return nil, fmt.Errorf("%s (%d)", status.Message, resp.StatusCode)
		}
		return nil, fmt.Errorf("answered %d", resp.StatusCode)
	}
	var info corev1.ConfigMap
	if err := json.Unmarshal(body, &info); err != nil {
		return nil, fmt.Errorf("cluster-info is not a ConfigMap: %w", err)
	}
	return &info, nil
}

func clusterInfoCA(info *corev1.ConfigMap) (*x509.Certificate, error) {
	config, err := clientcmd.Load([]byte(info.Data["kubeconfig"]))
	if err != nil {
		return nil, err
	}
	for _, c := range config.Clusters {
		return certs.DecodeCertPEM(c.CertificateAuthorityData)
	}
	return nil, fmt.Errorf("its kubeconfig names no cluster")
}
