package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
)

// The ConfigMap that kubeadm's discovery reads, and its key.
const (
	clusterInfo  = "cluster-info"
	discoveryKey = "kubeconfig"
)

// discoveryTimeout limits the requests to the workload cluster. The API server of a private cluster may be unreachable.
const discoveryTimeout = 5 * time.Second

// reconcileClusterInfo keeps kube-public/cluster-info of the workload cluster, with which self-managed machines join. The condition
// that it returns is not part of Ready: an AKS cluster works without it, and its API server need not be reachable from the manager.
func (k *Kind) reconcileClusterInfo(ctx context.Context, raw []byte) *metav1.Condition {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	condition := &metav1.Condition{Type: infrav1.ClusterInfoReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	if err := k.writeClusterInfo(ctx, raw); err != nil {
		var cause string
		condition.Status = metav1.ConditionFalse
		condition.Reason, cause = explainWriteFailure(err)
		condition.Message = "kube-public/cluster-info, which self-managed machines join by, could not be written, because " + cause +
			". Next try with the next full reconciliation"
		ctrl.LoggerFrom(ctx).V(2).Info("cluster-info not written", "reason", err.Error())
	}
	return condition
}

// explainWriteFailure returns the reason and the cause of a failed write. An API server that answers is reachable.
// https://learn.microsoft.com/en-us/azure/aks/manage-azure-rbac
func explainWriteFailure(err error) (reason, cause string) {
	var answer apierrors.APIStatus
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return infrav1.WorkloadClusterRefusedReason, "the API server refuses the provider's identity: " + err.Error() +
			". Give the identity the role Azure Kubernetes Service RBAC Cluster Admin, or add a group of it to aadProfile.adminGroupObjectIDs"
	case errors.As(err, &answer):
		return infrav1.WorkloadClusterRefusedReason, "the API server refuses the request: " + err.Error()
	}
	return infrav1.WorkloadClusterUnreachableReason, "the API server is not reachable from the manager"
}

func (k *Kind) writeClusterInfo(ctx context.Context, raw []byte) error {
	info, err := aks.BuildDiscoveryKubeconfig(raw)
	if err != nil {
		return err
	}
	workload, err := k.Workload(raw)
	if err != nil {
		return fmt.Errorf("client of the workload cluster: %w", err)
	}
	configMaps := workload.ConfigMaps(metav1.NamespacePublic)
	have, err := configMaps.Get(ctx, clusterInfo, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = configMaps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: clusterInfo}, Data: map[string]string{discoveryKey: string(info)},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil || have.Data[discoveryKey] == string(info) {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]string{discoveryKey: string(info)}})
	if err != nil {
		return err
	}
	_, err = configMaps.Patch(ctx, clusterInfo, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
