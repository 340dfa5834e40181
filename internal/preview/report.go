package preview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
)

// reporter makes the result of a plan.
type reporter struct {
	outcome *Result
	// specs are the fields of specs that manifests change, by object.
	specs map[string][]string
	plan  result.Plan
	at    map[string]int
}

// Report returns the result of a plan. specs are the fields of objects that manifests change, by kind and key, as in "AzureCluster default/c1".
func (out *Result) Report(ctx context.Context, specs map[string][]string) (*result.Plan, error) {
	r := &reporter{outcome: out, specs: specs, at: map[string]int{}}
	for _, w := range out.Writes {
		kind, key, _ := strings.Cut(w.Actor, " ")
		namespace, name, _ := strings.Cut(key, "/")
		r.plan.AddWrite(result.Write{
			Object: r.find(kind, namespace, name), Method: w.Method, ID: w.ID, Action: actionOf(w), Before: w.Before, Body: w.Body,
			Refused: messageOf(w.Refusal), TagsOnly: !strings.EqualFold(strings.TrimSuffix(w.Path, "/"), string(w.ID)) && w.Method == http.MethodPatch,
			Cause: r.causeOf(w),
		})
	}
	if err := r.addReports(ctx); err != nil {
		return nil, err
	}
	r.addReplacements()
	for i := range r.plan.Objects {
		o := &r.plan.Objects[i]
		o.Observed = out.Observed[o.Kind+" "+o.Namespace+"/"+o.Name]
	}
	r.plan.Notes = out.Notes
	if !out.Settled {
		r.plan.Notes = append(r.plan.Notes, "The plan is not complete: the objects still changed after the last round. Plan fewer objects at a time; if this happens again, report a bug.")
	}
	r.plan.Complete()
	return &r.plan, nil
}

// find returns the position of an object in the plan.
func (r *reporter) find(kind, namespace, name string) int {
	key := kind + " " + namespace + "/" + name
	if _, has := r.at[key]; !has {
		r.at[key] = len(r.plan.Objects)
		r.plan.Objects = append(r.plan.Objects, result.Object{Kind: kind, Namespace: namespace, Name: name})
	}
	return r.at[key]
}

// actionOf returns the name of an action, or "" for other requests.
func actionOf(w overlay.Write) string {
	if w.Method != http.MethodPost {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(w.Path, string(w.ID)), "/")
}

// messageOf returns the message in an error of Azure, "" if there is none.
func messageOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	failure := armclient.ParseError(raw)
	if failure.Code == "" {
		return "Azure gives no reason"
	}
	return failure.Code + ": " + failure.Message
}

// causeOf returns why a write is made, as far as the object shows it.
func (r *reporter) causeOf(w overlay.Write) string {
	deleting := slices.ContainsFunc(r.outcome.Ended, func(o client.Object) bool {
		return kindOf(o)+" "+client.ObjectKeyFromObject(o).String() == w.Actor
	})
	fields := r.specs[w.Actor]
	switch {
	case deleting:
		return "the object is deleted"
	case len(fields) > 0:
		return "the manifest changes " + joinFields(fields)
	case w.Method == http.MethodDelete:
		return "the spec does not have it any more"
	}
	return "Azure differs from the spec"
}

// maxFields bounds the fields in one reason.
const maxFields = 3

func joinFields(fields []string) string {
	if len(fields) > maxFields {
		return fmt.Sprintf("%s and %d more fields", strings.Join(fields[:maxFields], ", "), len(fields)-maxFields)
	}
	return strings.Join(fields, ", ")
}

// conditioned is an object with conditions.
type conditioned interface {
	client.Object
	GetConditions() []metav1.Condition
}

// addReports adds the reports of objects at the end: the reasons why they are not ready, and warnings.
func (r *reporter) addReports(ctx context.Context) error {
	for _, kind := range kubernetes.WatchedKinds() {
		if _, is := kind.(conditioned); !is || !strings.HasPrefix(kindOf(kind), "Azure") {
			continue
		}
		keys, err := listKeys(ctx, r.outcome.Kubernetes, kindOf(kind))
		if err != nil {
			return err
		}
		for _, key := range keys {
			object := kind.DeepCopyObject().(conditioned)
			if err := r.outcome.Kubernetes.Get(ctx, key, object); err != nil {
				return err
			}
			for _, condition := range object.GetConditions() {
				if condition.Type == infrav1.ReadyCondition && condition.Status == metav1.ConditionFalse {
					r.addReport(kindOf(kind), key.Namespace, key.Name, cmp.Or(condition.Message, condition.Reason))
				}
			}
		}
	}
	for _, event := range r.outcome.Events {
		if event.Type == "Warning" {
			r.addReport(event.Kind, event.Namespace, event.Name, event.Reason+": "+event.Note)
		}
	}
	return nil
}

func (r *reporter) addReport(kind, namespace, name, text string) {
	o := &r.plan.Objects[r.find(kind, namespace, name)]
	if !slices.ContainsFunc(o.Reports, func(known string) bool { return strings.Contains(known, text) || strings.Contains(text, known) }) {
		o.Reports = append(o.Reports, text)
	}
}

// addReplacements sets the verdict of machines and instances that go and for which others of their group come.
func (r *reporter) addReplacements() {
	comes := map[string]int{}
	for _, object := range r.outcome.Begun {
		if group := groupOf(object); group != "" {
			comes[group]++
		}
	}
	order := 0
	for _, object := range r.outcome.Ended {
		group := groupOf(object)
		if group == "" {
			continue
		}
		o := &r.plan.Objects[r.find(kindOf(object), object.GetNamespace(), object.GetName())]
		if comes[group] == 0 {
			o.Verdict = result.VerdictDeleted
			continue
		}
		comes[group]--
		order++
		o.Verdict, o.Order = result.VerdictReplaced, order
	}
}

// groupOf returns the group of a machine or of an instance of a pool; "" for other objects.
func groupOf(object client.Object) string {
	labels := object.GetLabels()
	switch kindOf(object) {
	case "AzureMachinePoolMachine":
		return object.GetNamespace() + "/pool/" + labels[clusterv1.MachinePoolNameLabel]
	case "AzureMachine":
		if _, is := labels[clusterv1.MachineControlPlaneLabel]; is {
			return object.GetNamespace() + "/controlplane/" + labels[clusterv1.ClusterNameLabel]
		}
		return object.GetNamespace() + "/deployment/" + labels[clusterv1.MachineDeploymentNameLabel]
	}
	return ""
}

// kindOf returns the kind of an object of this provider.
func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	name := fmt.Sprintf("%T", object)
	return name[strings.LastIndexByte(name, '.')+1:]
}
