package azurejson

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// warnWithoutIdentity warns about control plane machines on which cloud-provider-azure cannot log in: they have no identity, and the
// cluster's identity has no client secret. Workers do not log in with azure.json.
func (r *Reconciler) warnWithoutIdentity(ctx context.Context, cluster *clusterv1.Cluster, owner client.Object,
	spec infrav1.ManagedIdentities, credential identity.CloudConfigSecret) error {
	if spec.Identity != "" && spec.Identity != infrav1.VMIdentityNone || credential.ClientSecret != "" {
		r.eventLog.MarkResolved(owner, infrav1.VMIdentityNoneReason)
		return nil
	}
	field := "spec.identity"
	if _, isMachine := owner.(*infrav1.AzureMachine); !isMachine {
		field = "spec.template.spec.identity"
		template, err := selfmanaged.FindMachineTemplate(ctx, r.Client, cluster)
		if err != nil || template == nil || template.GetUID() != owner.GetUID() {
			return err
		}
	} else if _, ok := owner.GetLabels()[clusterv1.MachineControlPlaneLabel]; !ok {
		return nil
	}
	r.eventLog.WarnOnce(ctx, owner, infrav1.VMIdentityNoneReason, infrav1.VMIdentityNoneReason,
		field+" is None, and the AzureClusterIdentity has no client secret for azure.json: cloud-provider-azure cannot log in on these machines; give them an identity", nil)
	return nil
}
