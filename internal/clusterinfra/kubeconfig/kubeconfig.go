// Package kubeconfig turns the kubeconfigs that AKS hands out into those that Cluster API and kubeadm use. It is pure, and
// its errors never quote what is in a kubeconfig.
package kubeconfig

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ServerAppScope is what a token for the API server of an AKS cluster with Entra integration is asked for: the
// application that all of them share.
// https://learn.microsoft.com/en-us/azure/aks/kubelogin-authentication#how-to-use-kubelogin-with-aks
const ServerAppScope = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"

// errUnreadable hides the parser's error, which may quote the text it stumbled over.
var errUnreadable = errors.New("the kubeconfig that AKS answered cannot be read")

// WithToken replaces how every user of a kubeconfig proves who it is by a bearer token.
func WithToken(raw []byte, token string) ([]byte, error) {
	config, err := parseConfig(raw)
	if err != nil {
		return nil, err
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	}
	out, err := clientcmd.Write(*config)
	if err != nil {
		return nil, errUnreadable
	}
	return out, nil
}

// CertificateAuthority is the certificate of the authority that the server of the current context is trusted by, in PEM.
func CertificateAuthority(raw []byte) ([]byte, error) {
	cluster, err := currentCluster(raw)
	if err != nil {
		return nil, err
	}
	if len(cluster.CertificateAuthorityData) == 0 {
		return nil, errors.New("the kubeconfig that AKS answered has no certificate authority")
	}
	return cluster.CertificateAuthorityData, nil
}

// BuildDiscovery is what kubeadm's token-based discovery reads from kube-public/cluster-info: the server and its authority,
// and no credential.
// https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/#discovery-cluster-info
func BuildDiscovery(raw []byte) ([]byte, error) {
	cluster, err := currentCluster(raw)
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[""] = &clientcmdapi.Cluster{Server: cluster.Server, CertificateAuthorityData: cluster.CertificateAuthorityData}
	out, err := clientcmd.Write(*config)
	if err != nil {
		return nil, errUnreadable
	}
	return out, nil
}

func parseConfig(raw []byte) (*clientcmdapi.Config, error) {
	config, err := clientcmd.Load(raw)
	if err != nil || len(config.Clusters) == 0 || len(config.AuthInfos) == 0 {
		return nil, errUnreadable
	}
	return config, nil
}

// currentCluster is the cluster of the current context, or the only one there is.
func currentCluster(raw []byte) (*clientcmdapi.Cluster, error) {
	config, err := parseConfig(raw)
	if err != nil {
		return nil, err
	}
	if context := config.Contexts[config.CurrentContext]; context != nil && config.Clusters[context.Cluster] != nil {
		return config.Clusters[context.Cluster], nil
	}
	names := make([]string, 0, len(config.Clusters))
	for name := range config.Clusters {
		names = append(names, name)
	}
	return config.Clusters[slices.Min(names)], nil
}
