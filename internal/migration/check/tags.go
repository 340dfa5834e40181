package check

import (
	"cmp"
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// checkTags finds specs whose resources would have more tags than Azure takes. This provider puts one tag more on each resource than the
// established one, infrav1.OwnerTag, so specs that were in order may have one too many. Plans show the same for existing objects, but not for
// machines to come, and not with --plan=false.
func (c *checker) checkTags(ctx context.Context) error {
	// selfManaged are the inputs of plans by the keys of their Clusters.
	selfManaged := map[client.ObjectKey]plan.ClusterInput{}
	err := c.forEach(ctx, &infrav1.AzureClusterList{}, func(object client.Object) {
		azureCluster := object.DeepCopyObject().(*infrav1.AzureCluster)
		in := newTagInput(azureCluster, azureCluster)
		defaults.FillAzureCluster(azureCluster)
		selfManaged[client.ObjectKey{Namespace: object.GetNamespace(), Name: in.Cluster.Name}] = in
		c.reportTags("AzureCluster", object, "The object would not be reconciled. ", "spec.additionalTags",
			plan.BuildTags(in, infrav1.RoleCommon, "name", azureCluster.Spec.AdditionalTags), "resources of the cluster")
		if ignored := cluster.IgnoredTags(in); ignored != "" {
			c.report.Add("tags", migration.ToKnow, "AzureCluster "+client.ObjectKeyFromObject(object).String(),
				strings.ToUpper(ignored[:1])+ignored[1:]+".", "")
		}
	})
	if err != nil {
		return err
	}
	nodeTags := func(object client.Object, own infrav1.Tags) (map[string]*string, bool) {
		in, known := selfManaged[client.ObjectKey{Namespace: object.GetNamespace(), Name: clusterName(object)}]
		if !known {
			return nil, false // A template of a ClusterClass belongs to no Cluster, and a pool may be one of AKS.
		}
		return plan.BuildTags(in, infrav1.RoleNode, "name", plan.NodeAdditionalTags(in, own)), true
	}
	err = c.forEach(ctx, &infrav1.AzureMachineTemplateList{}, func(object client.Object) {
		if tags, known := nodeTags(object, object.(*infrav1.AzureMachineTemplate).Spec.Template.Spec.AdditionalTags); known {
			c.reportTags("AzureMachineTemplate", object, "New machines of the template would be refused. ", "spec.template.spec.additionalTags", tags, "the VM")
		}
	})
	if err != nil {
		return err
	}
	err = c.forEach(ctx, &infrav1.AzureMachinePoolList{}, func(object client.Object) {
		if tags, known := nodeTags(object, object.(*infrav1.AzureMachinePool).Spec.AdditionalTags); known {
			tags[infrav1.CustomDataHashTag] = new("")
			c.reportTags("AzureMachinePool", object, "The pool would not be Ready. ", "spec.additionalTags", tags, "the scale set")
		}
	})
	if err != nil {
		return err
	}
	return c.forEach(ctx, &infrav1.AzureManagedControlPlaneList{}, func(object client.Object) {
		holder := &infrav1.AzureCluster{ObjectMeta: *object.(*infrav1.AzureManagedControlPlane).ObjectMeta.DeepCopy()}
		in := newTagInput(object, holder)
		c.reportTags("AzureManagedControlPlane", object, "The object would not be reconciled. ", "spec.additionalTags",
			plan.BuildTags(in, infrav1.RoleCommon, "name", object.(*infrav1.AzureManagedControlPlane).Spec.AdditionalTags), "the AKS cluster")
	})
}

// forEach visits the objects of a kind. A kind without a definition has none.
func (c *checker) forEach(ctx context.Context, list client.ObjectList, visit func(client.Object)) error {
	err := pages.ForEach(ctx, c.Reader, list, func(object client.Object) error {
		visit(object)
		return nil
	})
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

// newTagInput returns the input from which the tags of a cluster are built. The holder of the owner ID gets one, as the manager gives it.
func newTagInput(object client.Object, holder *infrav1.AzureCluster) plan.ClusterInput {
	if content := applied.Read(holder.Annotations); content.OwnerID == "" {
		content.OwnerID = cmp.Or(string(holder.UID), "unknown")
		content.Store(holder)
	}
	return plan.ClusterInput{AzureCluster: holder, Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: clusterName(object)}}}
}

// clusterName returns the name of the Cluster of an object, by its label or its owner.
func clusterName(object client.Object) string {
	return cmp.Or(object.GetLabels()[clusterv1.ClusterNameLabel], owner.FindName(object, clusterv1.ClusterKind))
}

// reportTags adds a finding if a resource would have too many tags. effect is what would happen, path the field with tags of the user.
func (c *checker) reportTags(kind string, object client.Object, effect, path string, tags map[string]*string, resource string) {
	names := strings.Split(path, ".")
	for _, err := range plan.CheckTagCount(tags, resource, field.NewPath(names[0], names[1:]...)) {
		c.report.Add("tags", migration.Blocks, kind+" "+client.ObjectKeyFromObject(object).String(), effect+err.Error()+".",
			"Remove tags from the field, or from spec.additionalTags of the AzureCluster. This provider adds the tag "+infrav1.OwnerTag+" to those of the established provider.")
	}
}
