package workload

import (
	"context"
	"encoding/base64"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// WriteKubeconfig leads to a workload cluster through the proxy into the simulated network, because the host name of its API
// server exists only there.
func WriteKubeconfig(ctx context.Context, s *settings.Settings, name string) ([]byte, error) {
	kube, err := management.NewClient(s)
	if err != nil {
		return nil, err
	}
	secret := &unstructured.Unstructured{}
	secret.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	err = kube.Get(ctx, client.ObjectKey{Namespace: management.Namespace, Name: name + "-kubeconfig"}, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no Secret %s-kubeconfig: Cluster %s does not exist, or its control plane has no endpoint yet", name,
			name)
	}
	if err != nil {
		return nil, err
	}
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", "value")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig in Secret %s-kubeconfig: %w", name, err)
	}
	for _, cluster := range config.Clusters {
		cluster.ProxyURL = s.ProxyURL()
	}
	return clientcmd.Write(*config)
}
