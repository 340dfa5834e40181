package aks

// The functions of this file convert the kubeconfigs of AKS to those that Cluster API and kubeadm use. They are pure, and their errors
// never quote the content of a kubeconfig.

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// serverAppScope is the scope of tokens for the API server of an AKS cluster with Entra integration: the application that all such
// clusters share.
// https://learn.microsoft.com/en-us/azure/aks/kubelogin-authentication#how-to-use-kubelogin-with-aks
const serverAppScope = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"

// errUnreadable hides the parser's error, which may quote the content.
var errUnreadable = errors.New("the kubeconfig that AKS returned cannot be read")

// replaceCredentials replaces the credentials of every user of a kubeconfig with a bearer token.
func replaceCredentials(raw []byte, token string) ([]byte, error) {
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

// checkSelfContained returns an error for a kubeconfig that names files or programs. The manager and Cluster API's managers use the kubeconfig. An
// endpoint that answers in the place of Azure could otherwise have them send the token of their ServiceAccount, which is a file, to a server of
// its choice.
func checkSelfContained(raw []byte) error {
	config, err := parseConfig(raw)
	if err != nil {
		return err
	}
	for _, user := range config.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil || user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "" {
			return errors.New("the kubeconfig that AKS returned names a program or a file for its credential, so it is not used. AKS returns such a kubeconfig only to users with Entra ID: check the endpoint of Azure Resource Manager")
		}
	}
	for _, cluster := range config.Clusters {
		if cluster.CertificateAuthority != "" {
			return errors.New("the kubeconfig that AKS returned names a file for its certificate authority, so it is not used: check the endpoint of Azure Resource Manager")
		}
	}
	return nil
}

// readCertificateAuthority returns the certificate authority of the server of the current context, in PEM.
func readCertificateAuthority(raw []byte) ([]byte, error) {
	cluster, err := currentCluster(raw)
	if err != nil {
		return nil, err
	}
	if len(cluster.CertificateAuthorityData) == 0 {
		return nil, errors.New("the kubeconfig that AKS returned has no certificate authority")
	}
	return cluster.CertificateAuthorityData, nil
}

// BuildDiscoveryKubeconfig returns the kubeconfig for kubeadm's token-based discovery with kube-public/cluster-info: the server and its
// certificate authority, without a credential.
// https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/#discovery-cluster-info
func BuildDiscoveryKubeconfig(raw []byte) ([]byte, error) {
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

// currentCluster returns the cluster of the current context, or else the first one by name.
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
