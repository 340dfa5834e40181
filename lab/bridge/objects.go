package bridge

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubeapi"
)

func createNamespaces(ctx context.Context, c inmemory.Client) error {
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease} {
		if err := createIfMissing(ctx, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: kubeapi.NewUID()}}); err != nil {
			return err
		}
	}
	return nil
}

func createIfMissing(ctx context.Context, c inmemory.Client, obj client.Object) error {
	if err := c.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// createClusterObjects writes what kubeadm init uploads: the ConfigMaps, kube-proxy and the roles
// for joining nodes. KubeadmControlPlane counts a cluster as initialised once kubeadm-config is
// there, and rewrites it and kube-proxy's image on upgrades. The caller holds w.mu.
func (w *workload) createClusterObjects(ctx context.Context) error {
	info, err := w.clusterInfo()
	if err != nil {
		return err
	}
	kubeProxy := appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-proxy", UID: kubeapi.NewUID(),
			Labels: map[string]string{"k8s-app": "kube-proxy"}},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": "kube-proxy"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"k8s-app": "kube-proxy"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "kube-proxy",
					Image: "registry.k8s.io/kube-proxy:" + firstNonEmpty(w.settings.version, "v1.0.0")}}},
			},
		},
	}
	for _, obj := range []client.Object{
		configMap(metav1.NamespaceSystem, "kubeadm-config", map[string]string{"ClusterConfiguration": w.settings.yaml}),
		configMap(metav1.NamespaceSystem, "kubelet-config",
			map[string]string{"kubelet": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"}),
		configMap(metav1.NamespacePublic, "cluster-info", map[string]string{"kubeconfig": info}),
		&kubeProxy,
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "kubeadm:get-nodes", UID: kubeapi.NewUID()},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "kubeadm:get-nodes", UID: kubeapi.NewUID()},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "kubeadm:get-nodes"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind,
				Name: "system:bootstrappers:kubeadm:default-node-token"}},
		},
	} {
		if err := createIfMissing(ctx, w.client, obj); err != nil {
			return err
		}
	}
	return nil
}

func configMap(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: kubeapi.NewUID()}, Data: data}
}

// clusterInfo returns the kubeconfig without credentials from which joining machines learn the CA.
func (w *workload) clusterInfo() (string, error) {
	out, err := clientcmd.Write(clientcmdapi.Config{Clusters: map[string]*clientcmdapi.Cluster{
		"": {Server: "https://" + w.settings.endpoint, CertificateAuthorityData: certs.EncodeCertPEM(w.pki.cluster.cert)},
	}})
	return string(out), err
}
