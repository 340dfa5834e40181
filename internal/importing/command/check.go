package command

import (
	"bytes"
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
)

// check computes the writes of the manager after a user has applied the objects, set the tags and unpaused the Cluster.
func (f *flags) check(ctx context.Context, e *environment.Environment, live *overlay.Live, imported *importing.Result) (*verdict, error) {
	if len(imported.Tags) > 0 {
		live = &overlay.Live{Transport: tagged{next: live.Transport, tags: imported.Marked()}, Credential: live.Credential,
			Audience: live.Audience, Endpoint: live.Endpoint}
	}
	options := preview.Options{Identity: e.Identity, Gates: f.gates, Play: clusterapi.PlayRound, Live: live}
	options.Identity.SubscriptionID = f.Subscription
	var err error
	if options.Objects, err = readManifests(imported); err != nil {
		return nil, err
	}
	options.Objects = append(options.Objects, f.placeholderIdentity())
	options.Objects = append(options.Objects, preview.Namespaces(options.Objects)...)
	outcome, err := preview.Compute(ctx, options)
	if err != nil {
		return nil, err
	}
	out := &verdict{}
	if out.Plan, err = outcome.Report(ctx, nil); err != nil {
		return nil, err
	}
	out.Unready, err = listUnready(ctx, outcome.Kubernetes)
	return out, err
}

// verdict is the result of a check.
type verdict struct {
	*result.Plan
	// Unready are the objects that do not become Ready, by kind and name.
	Unready []string `json:"unready,omitempty"`
}

// isFound reports whether something would be written or would not become Ready.
func (v *verdict) isFound() bool { return v.HasChanges() || len(v.Unready) > 0 }

// readManifests returns the objects as the API server gets them, with the Cluster started.
func readManifests(imported *importing.Result) (out []client.Object, err error) {
	raw, err := imported.YAML()
	if err != nil {
		return nil, err
	}
	objects, err := manifests.Files{Input: bytes.NewReader(raw)}.ReadObjects([]string{manifests.Standard}, "")
	if err != nil {
		return nil, err
	}
	for _, object := range objects { // Without KubeadmConfigs, which have no effect on Azure.
		if cluster, is := object.Object.(*clusterv1.Cluster); is {
			cluster.Spec.Paused = nil
		}
		out = append(out, object.Object)
	}
	return out, nil
}

// listUnready returns the objects that are not Ready at the end of a plan.
func listUnready(ctx context.Context, c client.Client) (out []string, err error) {
	for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}} {
		if err := c.List(ctx, list); err != nil {
			return nil, err
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(interface {
				client.Object
				GetConditions() []metav1.Condition
			})
			if meta.IsStatusConditionTrue(object.GetConditions(), infrav1.ReadyCondition) {
				return nil
			}
			kind, err := c.GroupVersionKindFor(object)
			if err != nil {
				return err
			}
			line := kind.Kind + " " + object.GetName()
			if ready := meta.FindStatusCondition(object.GetConditions(), infrav1.ReadyCondition); ready != nil {
				line += ": " + ready.Message
			}
			out = append(out, line)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// placeholderIdentity stands for the identity that the user creates. All identities of a plan share the credential of the user.
func (f *flags) placeholderIdentity() *infrav1.AzureClusterIdentity {
	return &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Identity},
		Spec: infrav1.AzureClusterIdentitySpec{Type: infrav1.WorkloadIdentity, TenantID: "plan", ClientID: "plan",
			AllowedNamespaces: &infrav1.AllowedNamespaces{}}}
}
