package check

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// maxMessage bounds a message of Azure, or of an object, in a finding.
const maxMessage = 500

const (
	observeRemedy = "Correct the spec or Azure, or begin with kubectl capz migrate run --observe, which writes nothing until you release the cluster."
	signInRemedy  = "Sign in to Azure with the role Reader (environment variables or az login). Or leave the plans out with --plan=false, and begin with kubectl capz migrate run --observe."
)

// FindPlans runs only the check of plans, for the Clusters of a namespace.
func FindPlans(ctx context.Context, options Options, namespace string) (*migration.Report, error) {
	c := &checker{Options: options}
	if err := c.checkPlansIn(ctx, namespace); err != nil {
		return nil, err
	}
	c.report.Sort()
	return &c.report, nil
}

// checkPlans computes, for each Cluster, the writes to Azure that the manager would make after the migration.
func (c *checker) checkPlans(ctx context.Context) error { return c.checkPlansIn(ctx, "") }

func (c *checker) checkPlansIn(ctx context.Context, namespace string) error {
	if c.Plan == nil {
		c.report.Add("plan", migration.ToKnow, "Management cluster", "The writes to Azure after the migration are not computed, because plans are left out.",
			"Begin with kubectl capz migrate run --observe.")
		return nil
	}
	read, err := management.Read(ctx, c.Reader, management.Scope{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("read the objects of plans: %w", err)
	}
	for _, note := range read.Notes {
		c.report.Add("plan", migration.ToKnow, "Management cluster", note, "Grant the right, and repeat the check.")
	}
	var clusters []*clusterv1.Cluster
	for _, item := range read.Items {
		if cluster, is := item.(*clusterv1.Cluster); is && hasAzure(read.OfCluster(client.ObjectKeyFromObject(cluster))) {
			clusters = append(clusters, cluster)
		}
	}
	for i, cluster := range clusters {
		key := client.ObjectKeyFromObject(cluster)
		objects := read.OfCluster(key)
		if annotations.IsPaused(cluster, cluster) {
			c.report.Add("plan", migration.ToKnow, "Cluster "+key.String(), "The Cluster is paused, so nothing is written until it is unpaused. Its writes are not computed.",
				"Before you unpause it, run: kubectl capz plan.")
			continue
		}
		if c.Progress != nil {
			c.Progress(fmt.Sprintf("plan %d of %d: Cluster %s", i+1, len(clusters), key))
		}
		if err := c.checkPlan(ctx, "Cluster "+key.String(), objects); err != nil {
			return err
		}
	}
	return nil
}

// hasAzure reports whether a Cluster has objects of this provider. Management clusters may have Clusters of other providers.
func hasAzure(objects []client.Object) bool {
	for _, object := range objects {
		switch object.(type) {
		case *infrav1.AzureCluster, *infrav1.AzureManagedControlPlane, *infrav1.AzureManagedCluster, *infrav1.AzureASOManagedCluster,
			*infrav1.AzureASOManagedControlPlane:
			return true
		}
	}
	return false
}

// checkPlan adds the findings of the plan of one Cluster. A plan that cannot be made is a finding, too.
func (c *checker) checkPlan(ctx context.Context, cluster string, objects []client.Object) error {
	ready := readyBefore(objects)
	outcome, err := c.Plan(ctx, objects)
	var planned *result.Plan
	if err == nil {
		planned, err = outcome.Report(ctx, nil)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.report.Add("plan", migration.Blocks, cluster, "The plan cannot be computed: "+shorten(err.Error())+".", signInRemedy)
		return nil
	case len(planned.Notes) > 0:
		c.report.Add("plan", migration.Blocks, cluster, "The plan is not complete. "+strings.Join(planned.Notes, " "),
			"Follow the note, and repeat the check.")
	}
	found := len(planned.Notes) > 0
	for _, object := range planned.Objects {
		name := fmt.Sprintf("%s %s/%s", object.Kind, object.Namespace, object.Name)
		for _, change := range object.Changes {
			found = true
			c.report.Add("plan", migration.Blocks, name, "The manager would write to Azure: "+describeChange(change), observeRemedy)
		}
	}
	unready, err := findUnready(ctx, outcome, ready)
	if err != nil {
		return err
	}
	for name, object := range unready {
		found = true
		severity, state := migration.ToKnow, "The object is not Ready, and would not be after the migration: "
		if object.wasReady {
			severity, state = migration.Blocks, "The object would not be Ready after the migration, so its writes may not be complete: "
		}
		c.report.Add("plan", severity, name, state+shorten(object.message)+".", "Correct the cause. If the message is about rights in Azure, grant yourself the role Reader. Then repeat the check.")
	}
	if !found {
		c.report.Add("plan", migration.ToKnow, cluster, "The manager writes nothing to Azure after the migration.", "")
	}
	return nil
}

// conditioned is an object with conditions.
type conditioned interface {
	client.Object
	GetConditions() []metav1.Condition
}

// unreadyObject is an object that is not Ready at the end of a plan.
type unreadyObject struct {
	wasReady bool
	message  string
}

// readyBefore returns whether each object of this provider is Ready. Some kinds have no conditions in the established provider; their objects
// count as Ready.
func readyBefore(objects []client.Object) map[conditioned]bool {
	out := map[conditioned]bool{}
	for _, object := range objects {
		if of, is := object.(conditioned); is && isOfProvider(object) {
			ready := meta.FindStatusCondition(of.GetConditions(), infrav1.ReadyCondition)
			out[of] = ready == nil || ready.Status == metav1.ConditionTrue
		}
	}
	return out
}

// isOfProvider reports whether an object is of a kind with resources in Azure.
func isOfProvider(object client.Object) bool {
	switch object.(type) {
	case *clusterv1.Cluster, *clusterv1.Machine, *clusterv1.MachinePool, *clusterv1.MachineDeployment, *corev1.Namespace, *corev1.Secret,
		*infrav1.AzureClusterIdentity, *infrav1.AzureMachineTemplate:
		return false
	}
	return true
}

// findUnready returns the objects that are not Ready at the end of a plan, by kind and name.
func findUnready(ctx context.Context, outcome *preview.Result, before map[conditioned]bool) (map[string]unreadyObject, error) {
	out := map[string]unreadyObject{}
	for object, wasReady := range before {
		gvk, err := apiutil.GVKForObject(object, outcome.Kubernetes.Scheme())
		if err != nil {
			return nil, err
		}
		key := client.ObjectKeyFromObject(object)
		after := object.DeepCopyObject().(conditioned)
		if err := outcome.Kubernetes.Get(ctx, key, after); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get %s %s of the plan: %w", gvk.Kind, key, err)
		} else if err != nil {
			continue // The plan deletes it, and lists the writes.
		}
		ready := meta.FindStatusCondition(after.GetConditions(), infrav1.ReadyCondition)
		if ready != nil && ready.Status != metav1.ConditionTrue {
			out[gvk.Kind+" "+key.String()] = unreadyObject{wasReady: wasReady, message: ready.Reason + ": " + ready.Message}
		}
	}
	return out, nil
}

// maxProperties is the largest number of properties that a finding names.
const maxProperties = 3

// describeChange returns a write with its reason and its first properties. Values are masked by the plan.
func describeChange(change result.Change) string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s %s", change.Action, change.Resource.ShortName())
	if change.Reason != "" {
		fmt.Fprintf(out, " (%s)", change.Reason)
	}
	if change.Action == result.ActionChange {
		separator := ": "
		for _, property := range change.Properties[:min(len(change.Properties), maxProperties)] {
			fmt.Fprintf(out, "%s%s %s -> %s", separator, property.Path, property.Old, property.New)
			separator = ", "
		}
		if more := len(change.Properties) - maxProperties; more > 0 {
			fmt.Fprintf(out, " and %d more properties", more)
		}
	}
	if change.Reimages {
		out.WriteString(". AKS reimages nodes for this change")
	}
	if change.Refused != "" {
		fmt.Fprintf(out, ". Azure would refuse it: %s", change.Refused)
	}
	return shorten(out.String()) + "."
}

// shorten returns a text of one line without a period at the end.
func shorten(message string) string {
	return strings.TrimSuffix(text.Truncate(strings.Join(strings.Fields(message), " "), maxMessage), ".")
}
